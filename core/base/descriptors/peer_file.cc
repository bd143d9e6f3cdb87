#include "core/base/descriptors/peer_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/descriptors/fd_passing.h"
#include "core/base/no_cancel.h"

namespace pinwire {

namespace {

Result<int> open_by_proc(int pid, int fd) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
  // Whatever is there: not a terminal that becomes this process's, nor a pipe that waits.
  const int opened = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (opened >= 0) return opened;
  const bool is_refused = errno == EACCES || errno == EPERM;
  const char* const why = std::strerror(errno);
  if (!is_refused || !has_become_another(pid)) return error("cannot open %s: %s", path, why);
  return error(
      "cannot open %s: %s: this process has become another user's or group's (setuid(2) or the "
      "like) since gasnet_init(), and the kernel no longer shows it what its peers have open. Do "
      "that before gasnet_init(), or when the last segment is attached or published",
      path, why);
}

}  // namespace

Result<int> open_peer_file(int pid, int fd, uint64_t inode, uint64_t bytes) {
  const NoCancel whole;
  auto opened = has_fd_server(pid) ? request_fd(pid, fd, inode) : open_by_proc(pid, fd);
  if (!opened) return opened;
  struct stat facts {};
  const bool is_known = fstat(*opened, &facts) == 0;
  if (!is_known || facts.st_ino != inode || static_cast<uint64_t>(facts.st_size) < bytes) {
    close(*opened);
    return error(
        "/proc/%d/fd/%d is another file here than the peer says: its process has another pid here",
        pid, fd);
  }
  return opened;
}

const char* advice_on_peer_files() noexcept {
  if (!are_files_hidden()) {
    return "Ranks of one host must run as one user in one PID namespace, and keep the user, the "
           "group and the rights that they have at gasnet_init(); GASNET_DRIVER=dpdk does without.";
  }
  return "This program has file capabilities, is set-user-ID or set-group-ID, or its user may not "
         "read it: the kernel hides what it has open from its peers, which must be given it "
         "through a socket. Without one its ranks share no memory. For capabilities alone: take "
         "them from the program (setcap -r), and give them to the job: setpriv --inh-caps=+NAME "
         "--ambient-caps=+NAME gasnetrun_pinwire ...";
}

}  // namespace pinwire

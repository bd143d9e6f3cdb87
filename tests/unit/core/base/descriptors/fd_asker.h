// Processes that ask a descriptor server for a file, in tests.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>

#include "core/base/descriptors/fd_passing.h"
#include "core/base/descriptors/peer_file.h"

namespace pinwire {

inline constexpr uint64_t kKey = 0x1234'5678'9abc'def0;

/// Runs `deed` in a child that this process forks; its exit code, or 128 + signal. One that hangs
/// is ended by SIGALRM.
inline int in_child(const std::function<int()>& deed) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    _exit(deed());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The answer that a peer of this process's parent gets: 0 a file, 1 a sentence with `part`, 2
/// another one.
inline int ask_parent(FdServerAddress server, int fd, uint64_t inode, uint64_t key,
                      const char* part) {
  learn_fd_server(getppid(), server, key);
  auto file = open_peer_file(getppid(), fd, inode, 0);
  if (file) return 0;
  std::fprintf(stderr, "%s\n", file.sentence().c_str());
  return file.sentence().find(part) != std::string::npos ? 1 : 2;
}

/// A connection as a program makes it that knows all but checks nothing.
inline int connect_raw(FdServerAddress server) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path + 1, 6, "%05x", server - 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 6);
  return connect(fd, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 ? fd : -1;
}

inline constexpr unsigned kOther = 770'001;  // a user and a group that nobody has

inline bool become_another() { return setresuid(kOther, kOther, kOther) == 0; }

}  // namespace pinwire

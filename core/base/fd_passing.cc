#include "core/base/fd_passing.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "core/base/fd_record.h"
#include "core/base/fd_server.h"
#include "core/base/library_thread.h"
#include "core/base/no_cancel.h"

namespace pinwire {
namespace {

struct KnownServer {
  FdServerAddress number;
  uint64_t job_key;
};
std::unordered_map<int, KnownServer>& known_servers() {
  static auto& all = *new std::unordered_map<int, KnownServer>;  // a client's exit handlers may ask
  return all;
}

/// The kernel names a socket that is bound to nothing by five hexadecimal digits (unix(7),
/// autobind). Their number is the server's, less one.
constexpr int kDigits = 5;
constexpr socklen_t kNameBytes = offsetof(sockaddr_un, sun_path) + 1 + kDigits;

sockaddr_un address_of(FdServerAddress number) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path + 1, kDigits + 1, "%05x", number - 1);
  return address;
}

Result<FdServerAddress> bind_anywhere(int fd) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  if (bind(fd, any, sizeof address.sun_family) != 0 || listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
    return error("cannot bind a Unix socket: %s", std::strerror(errno));
  }
  char* end = nullptr;
  const auto number = static_cast<FdServerAddress>(std::strtoul(address.sun_path + 1, &end, 16));
  if (bytes != kNameBytes || end != address.sun_path + 1 + kDigits)
    return error("the kernel gives a Unix socket a name that is not 5 digits");
  return number + 1;
}

/// A sentence if another process than `pid`, or one of another user, listens at the other end.
Status check_owner(int fd, int pid) {
  ucred owner{};
  socklen_t bytes = sizeof owner;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &bytes) != 0)
    return error("nobody knows whose socket it is: %s", std::strerror(errno));
  if (owner.pid == pid && owner.uid == geteuid()) return success();
  return error("process %d of user %u listens there", owner.pid, owner.uid);
}

Status connect_to(int fd, int pid, FdServerAddress number) {
  const sockaddr_un address = address_of(number);
  int failed;
  do {
    failed = connect(fd, reinterpret_cast<const sockaddr*>(&address), kNameBytes);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) return error("%s", std::strerror(errno));
  return check_owner(fd, pid);
}

/// The owner has ended, or has closed the connection: unread, which resets it, or after a request
/// that it does not heed.
Error no_answer(int os_error) {
  const bool is_closed = os_error == 0 || os_error == ECONNRESET || os_error == EPIPE;
  return error(
      "it gives no answer: %s",
      is_closed ? "it has ended, or has too many open files (ulimit -n)" : std::strerror(os_error));
}

/// The descriptor that comes, or a sentence.
Result<int> receive_file(int fd) {
  const FdRecord record = receive_record(fd);
  if (record.text.empty()) return no_answer(record.os_error);
  if (record.fd >= 0) return record.fd;
  if (record.is_cut) return error("this process has too many open files (ulimit -n)");
  return error("it does not offer that file");
}

Result<int> ask(int fd, int pid, const KnownServer& server, const FileRequest& request) {
  if (auto connected = connect_to(fd, pid, server.number); !connected) return connected.error();
  if (send(fd, &request, sizeof request, MSG_NOSIGNAL) != sizeof request) return no_answer(errno);
  return receive_file(fd);
}

}  // namespace

bool are_files_hidden() noexcept {
  constexpr int kSeenByUser = 1;  // proc(5): then /proc/<pid> is the user's
  return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != kSeenByUser;
}

Result<FdServerAddress> start_fd_server(uint64_t job_key) {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return error("cannot make a Unix socket: %s", std::strerror(errno));
  auto number = bind_anywhere(fd);
  if (!number) {
    close(fd);
    return number;
  }
  pthread_t thread;
  auto* const server = new FdServer(fd, job_key);
  if (const int failed = start_library_thread(&thread, FdServer::run, server)) {
    delete server;
    return error("cannot start a thread: %s; %s", std::strerror(failed), kRaiseThreads);
  }
  pthread_detach(thread);
  return number;
}

void learn_fd_server(int pid, FdServerAddress number, uint64_t job_key) {
  if (number != 0) known_servers().insert_or_assign(pid, KnownServer{number, job_key});
}

bool has_fd_server(int pid) noexcept { return known_servers().contains(pid); }

Result<int> request_fd(int pid, int fd, uint64_t inode) {
  const NoCancel whole;
  const auto known = known_servers().find(pid);
  if (known == known_servers().end()) return error("process %d has no descriptor server", pid);
  const int socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return error("cannot make a Unix socket: %s", std::strerror(errno));
  auto file = ask(socket_fd, pid, known->second, {known->second.job_key, inode, fd, 0});
  close(socket_fd);
  if (!file) return error("process %d passes no file: %s", pid, file.sentence().c_str());
  return file;
}

}  // namespace pinwire

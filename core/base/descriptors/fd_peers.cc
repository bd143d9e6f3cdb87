#include "core/base/descriptors/fd_peers.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace pinwire {
namespace {

struct Peers {
  std::mutex lock;  // the server's thread looks here, too
  std::unordered_map<int, FdPeer> by_pid;
};

/// Never destroyed: a client's exit handlers and the server's thread may ask.
Peers& peers() {
  static auto& all = *new Peers;
  return all;
}

/// The kernel names a socket that is bound to nothing by five hexadecimal digits (unix(7),
/// autobind). Their number is the server's, less one.
constexpr int kDigits = 5;
constexpr socklen_t kNameBytes = offsetof(sockaddr_un, sun_path) + 1 + kDigits;

sockaddr_un name_of(FdServerAddress server) noexcept {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::snprintf(name.sun_path + 1, kDigits + 1, "%05x", server - 1);
  return name;
}

}  // namespace

UserAndGroup UserAndGroup::now() noexcept { return {geteuid(), getegid()}; }

std::optional<SocketPeer> SocketPeer::of(int socket_fd) noexcept {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  return SocketPeer{peer.pid, {peer.uid, peer.gid}};
}

Result<FdServerAddress> listen_anywhere(int socket_fd) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const auto* any = reinterpret_cast<const sockaddr*>(&name);
  socklen_t bytes = sizeof name;
  if (bind(socket_fd, any, sizeof name.sun_family) != 0 || listen(socket_fd, SOMAXCONN) != 0 ||
      getsockname(socket_fd, reinterpret_cast<sockaddr*>(&name), &bytes) != 0) {
    return error("cannot bind a Unix socket: %s", std::strerror(errno));
  }
  char* end = nullptr;
  const auto number = static_cast<FdServerAddress>(std::strtoul(name.sun_path + 1, &end, 16));
  if (bytes != kNameBytes || end != name.sun_path + 1 + kDigits)
    return error("the kernel gives a Unix socket a name that is not 5 digits");
  return number + 1;
}

void keep_fd_peer(int pid, const FdPeer& peer) {
  const std::lock_guard guard(peers().lock);
  peers().by_pid.insert_or_assign(pid, peer);
}

std::optional<FdPeer> find_fd_peer(int pid) {
  const std::lock_guard guard(peers().lock);
  const auto found = peers().by_pid.find(pid);
  if (found == peers().by_pid.end()) return std::nullopt;
  return found->second;
}

Status connect_to_fd_server(int socket_fd, int pid, FdServerAddress server, UserAndGroup who) {
  const sockaddr_un name = name_of(server);
  int failed;
  do {
    failed = connect(socket_fd, reinterpret_cast<const sockaddr*>(&name), kNameBytes);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0) return error("%s", std::strerror(errno));
  const auto owner = SocketPeer::of(socket_fd);
  if (!owner) return error("nobody knows whose socket it is: %s", std::strerror(errno));
  if (*owner == SocketPeer{pid, who}) return success();
  return error("process %d of user %u and group %u listens there", owner->pid, owner->who.user,
               owner->who.group);
}

bool has_listened_as(int pid, UserAndGroup who) {
  const auto peer = find_fd_peer(pid);
  if (!peer || peer->server == 0) return false;
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const bool is_so = connect_to_fd_server(fd, pid, peer->server, who).ok();
  close(fd);
  return is_so;
}

}  // namespace pinwire

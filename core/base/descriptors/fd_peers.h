// Where the descriptor servers of this host's other ranks listen (fd_passing.h), and how this
// process knows them again: by their pid, and by the user and group with which they began to
// listen.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "core/base/result.h"

namespace pinwire {

/// By what peers find a server. 0: there is none.
using FdServerAddress = uint32_t;

/// The user and the group with whose rights a process acts.
struct UserAndGroup {
  uid_t user;
  gid_t group;
  bool operator==(const UserAndGroup&) const = default;
  static UserAndGroup now() noexcept;
};

/// The process at the other end of a Unix socket. The kernel keeps it (SO_PEERCRED): as it was when
/// it connected or, if it listens, when it called listen(2), whatever it has become since.
struct SocketPeer {
  pid_t pid;
  UserAndGroup who;
  bool operator==(const SocketPeer&) const = default;
  static std::optional<SocketPeer> of(int socket_fd) noexcept;
};

/// Binds the socket to a name that the kernel chooses, and listens there.
Result<FdServerAddress> listen_anywhere(int socket_fd);

struct FdPeer {
  FdServerAddress server;  ///< 0: it has none
  uint64_t job_key;
  UserAndGroup who;  ///< as this process was when it learned of the peer
};

/// Any thread.
void keep_fd_peer(int pid, const FdPeer& peer);
std::optional<FdPeer> find_fd_peer(int pid);

/// A sentence if another process than `pid` listens there, or one that began to as another user or
/// in another group than `who`. With a socket that does not block it does not wait.
Status connect_to_fd_server(int socket_fd, int pid, FdServerAddress server, UserAndGroup who);

/// Whether process `pid`, a peer with a server, had this user and group when it began to listen.
/// Does not wait for it.
bool has_listened_as(int pid, UserAndGroup who);

}  // namespace pinwire

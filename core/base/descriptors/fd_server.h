// The thread that passes descriptors of this process to its peers (fd_passing.h).
#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

#include "core/base/descriptors/fd_peers.h"

namespace pinwire {

/// The question of a peer, in one record. The owner has told it the number of the descriptor and
/// the file's inode.
struct FileRequest {
  uint64_t job_key;
  uint64_t inode;
  int32_t fd;
  uint32_t unused;
};

class FdServer {
 public:
  /// The most connections of one peer that is another user's or group's now: as many of its threads
  /// may ask at once. Any process may have got the peer's pid.
  static constexpr int kEndsOfChangedMax = 8;

  /// Takes over the socket, which listens. It serves those who are what this process is now.
  FdServer(int listener_fd, uint64_t job_key) noexcept;
  ~FdServer();
  FdServer(const FdServer&) = delete;
  FdServer& operator=(const FdServer&) = delete;

  /// The thread's function; takes over the FdServer. It returns when the socket is gone, as when
  /// the client closes all descriptors of its process.
  static void* run(void* server) noexcept;

 private:
  /// A connection to a peer that has not asked yet.
  struct End {
    int fd;
    uint64_t inode;
    int changed_pid;  ///< the peer, if it is another user's or group's now; else 0
  };
  void work();
  bool accept_one();
  void add(int fd);
  void close_oldest_of(int changed_pid);
  void drop(size_t end);
  void answer(const End& end) const;
  static void close_own(const End& end) noexcept;

  const int listener_fd_;
  const uint64_t listener_inode_;
  const uint64_t job_key_;
  const UserAndGroup who_ = UserAndGroup::now();
  int spare_fd_;  // given up to refuse a peer when no descriptor is left
  std::vector<End> ends_;
  std::vector<pollfd> watched_;  // the listener, and all of them
};

}  // namespace pinwire

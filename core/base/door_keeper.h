// The thread behind a process's file door (file_door.h).
#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

namespace pinwire {

/// What a peer asks for, in one record. The number of the descriptor and the file's inode were told
/// to it by the owner.
struct FileRequest {
  uint64_t job_key;
  uint64_t inode;
  int32_t fd;
  uint32_t unused;
};

class DoorKeeper {
 public:
  /// Takes over the socket, which listens.
  DoorKeeper(int listener_fd, uint64_t job_key) noexcept;
  ~DoorKeeper();
  DoorKeeper(const DoorKeeper&) = delete;
  DoorKeeper& operator=(const DoorKeeper&) = delete;

  /// Of the thread; takes over the keeper. It ends when the socket is gone, as when the client
  /// closes all descriptors of its process.
  static void* run(void* keeper) noexcept;

 private:
  void work();
  bool accept_one();
  void answer(int fd) const noexcept;

  const int listener_fd_;
  const uint64_t listener_inode_;
  const uint64_t job_key_;
  int spare_fd_;              // given up to refuse a peer when no descriptor is left
  std::vector<pollfd> ends_;  // the listener, and peers that have not asked yet
};

}  // namespace pinwire

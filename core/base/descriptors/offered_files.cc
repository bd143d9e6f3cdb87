#include "core/base/descriptors/offered_files.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/base/descriptors/fd_record.h"
#include "core/base/files/file_inode.h"

namespace pinwire {
namespace {

struct Offered {
  // Held while one is sent: it is not closed, and its number used again, meanwhile.
  std::mutex lock;
  std::vector<int> fds;
};

/// Never destroyed: the server's thread may ask until the process ends.
Offered& offered() {
  static auto& all = *new Offered;
  return all;
}

}  // namespace

void offer_file(int fd) {
  const std::lock_guard guard(offered().lock);
  offered().fds.push_back(fd);
}

void close_offered_file(int fd) noexcept {
  if (fd < 0) return;
  const std::lock_guard guard(offered().lock);
  std::erase(offered().fds, fd);
  ::close(fd);
}

void send_offered_file(int socket_fd, int fd, uint64_t inode) noexcept {
  const std::lock_guard guard(offered().lock);
  const auto& fds = offered().fds;
  const bool is_given = std::find(fds.begin(), fds.end(), fd) != fds.end() && inode_of(fd) == inode;
  const char word = is_given ? 1 : 0;
  // A peer that does not get it reads the end of the stream instead.
  send_record(socket_fd, {&word, 1}, is_given ? fd : -1, MSG_DONTWAIT);
}

}  // namespace pinwire

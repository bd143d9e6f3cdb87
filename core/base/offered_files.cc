#include "core/base/offered_files.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/base/peer_file.h"

namespace pinwire {
namespace {

struct Offered {
  std::mutex
      lock;  // held while one is sent: it is not closed, and its number used again, meanwhile
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
  char word = is_given ? 1 : 0;
  iovec part{&word, 1};
  alignas(cmsghdr) char rights[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (is_given) {
    message.msg_control = rights;
    message.msg_controllen = sizeof rights;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  // A peer that does not get it reads the end of the stream instead.
  [[maybe_unused]] const auto sent = ::sendmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace pinwire

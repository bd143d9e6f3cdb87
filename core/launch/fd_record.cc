#include "core/launch/fd_record.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>

namespace pinwire::launch {

bool send_record(int socket, std::string text, int fd) {
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof fd)] = {};
  iovec part{text.data(), text.size()};
  msghdr record{};
  record.msg_iov = &part;
  record.msg_iovlen = 1;
  if (fd >= 0) {
    record.msg_control = space;
    record.msg_controllen = sizeof space;
    cmsghdr* const head = CMSG_FIRSTHDR(&record);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  return ::sendmsg(socket, &record, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

FdRecord receive_record(int socket) {
  char text[kFdRecordBytesMax];
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  iovec part{text, sizeof text};
  msghdr record{};
  record.msg_iov = &part;
  record.msg_iovlen = 1;
  record.msg_control = space;
  record.msg_controllen = sizeof space;
  ssize_t got;
  do {
    got = ::recvmsg(socket, &record, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  FdRecord made;
  if (got > 0) made.text.assign(text, static_cast<size_t>(got));
  made.is_cut = got > 0 && (record.msg_flags & MSG_CTRUNC) != 0;
  if (const cmsghdr* const head = got > 0 ? CMSG_FIRSTHDR(&record) : nullptr) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
    made.fd.reset(fd);
  }
  return made;
}

}  // namespace pinwire::launch

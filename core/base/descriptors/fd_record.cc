#include "core/base/descriptors/fd_record.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace pinwire {

bool send_record(int socket, std::string_view text, int fd, int flags) noexcept {
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof fd)] = {};
  iovec part{const_cast<char*>(text.data()), text.size()};
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
  return ::sendmsg(socket, &record, MSG_NOSIGNAL | flags) == static_cast<ssize_t>(text.size());
}

FdRecord receive_record(int socket, int flags) {
  char text[kFdRecordBytesMax];
  FdRecord made;
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof made.fd)] = {};
  iovec part{text, sizeof text};
  msghdr record{};
  record.msg_iov = &part;
  record.msg_iovlen = 1;
  record.msg_control = space;
  record.msg_controllen = sizeof space;
  ssize_t got;
  do {
    got = ::recvmsg(socket, &record, MSG_CMSG_CLOEXEC | flags);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) {
    made.os_error = got == 0 ? 0 : errno;
    return made;
  }
  made.text.assign(text, static_cast<size_t>(got));
  made.is_cut = (record.msg_flags & MSG_CTRUNC) != 0;
  const cmsghdr* const head = CMSG_FIRSTHDR(&record);
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof made.fd)) {
    std::memcpy(&made.fd, CMSG_DATA(head), sizeof made.fd);
  }
  return made;
}

}  // namespace pinwire

#include "core/launch/hosts/outbox.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace pinwire::launch {

void Outbox::put(FrameHeader header, SharedBytes message) {
  items_.push_back({header, std::move(message), 0});
}

bool Outbox::flush() {
  while (!items_.empty()) {
    auto& item = items_.front();
    auto header = bootstrap::chunk_header(item.header, item.offset, item.message->size());
    iovec parts[2] = {{&header, sizeof header},
                      {const_cast<std::byte*>(item.message->data() + item.offset), header.bytes}};
    msghdr record{};
    record.msg_iov = parts;
    record.msg_iovlen = header.bytes == 0 ? 1 : 2;
    const ssize_t sent = ::sendmsg(fd_, &record, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return false;
    if (sent < 0) {  // the rank is gone, as its wait status will tell
      items_.clear();
      return true;
    }
    item.offset += header.bytes;
    if (item.offset == item.message->size()) items_.pop_front();
  }
  return true;
}

}  // namespace pinwire::launch

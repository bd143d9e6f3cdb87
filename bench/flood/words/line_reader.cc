#include "bench/flood/words/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace pinwire::flood {

void LineReader::poll(int wait_ms) {
  if (ended_ || pending_.find('\n') != std::string::npos) return;
  pollfd wanted = {fd_, POLLIN, 0};
  if (::poll(&wanted, 1, wait_ms) <= 0) return;
  char bytes[4096];
  const ssize_t count = ::read(fd_, bytes, sizeof bytes);
  if (count > 0) {
    pending_.append(bytes, static_cast<size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    ended_ = true;
  }
}

std::optional<std::string> LineReader::next() {
  const size_t end = pending_.find('\n');
  if (end == std::string::npos && (!ended_ || pending_.empty())) return std::nullopt;
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

}  // namespace pinwire::flood

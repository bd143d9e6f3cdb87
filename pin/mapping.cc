#include "pin/mapping.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace pinwire {
namespace {

/// The bytes of a file, one after the other.
class Bytes {
 public:
  explicit Bytes(const char* path) noexcept : fd_(open(path, O_RDONLY | O_CLOEXEC)) {}
  Bytes(const Bytes&) = delete;
  ~Bytes() {
    if (fd_ >= 0) close(fd_);
  }
  /// -1: the end.
  int next() noexcept {
    if (at_ == count_ && !fill()) return -1;
    return static_cast<unsigned char>(buffer_[at_++]);
  }

 private:
  bool fill() noexcept {
    do {
      count_ = fd_ < 0 ? 0 : read(fd_, buffer_, sizeof buffer_);
    } while (count_ < 0 && errno == EINTR);
    at_ = 0;
    return count_ > 0;
  }
  const int fd_;
  ssize_t at_ = 0;
  ssize_t count_ = 0;
  char buffer_[4096];
};

/// A line: `from-to rwxp offset major:minor inode name`.
struct Line {
  Mapping mapping;
  bool is_anonymous = false;  ///< private and writable at that
};

/// Hexadecimal, as inodes are 0 or not; ends after the first other character.
uint64_t number(Bytes& bytes, int& ended_by) noexcept {
  uint64_t value = 0;
  for (;;) {
    ended_by = bytes.next();
    const int c = ended_by;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return value;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
}

bool next_line(Bytes& bytes, Line& line) noexcept {
  int c = 0;
  line.mapping.from = number(bytes, c);
  if (c != '-') return false;
  line.mapping.to = number(bytes, c);
  char rights[4] = {};
  for (char& right : rights) right = static_cast<char>(bytes.next());
  bytes.next();
  number(bytes, c);  // offset
  const uint64_t major = number(bytes, c);
  const uint64_t minor = number(bytes, c);
  const uint64_t inode = number(bytes, c);
  line.is_anonymous =
      rights[1] == 'w' && rights[3] == 'p' && major == 0 && minor == 0 && inode == 0;
  while (c != '\n' && c != -1) c = bytes.next();
  return c == '\n';
}

}  // namespace

Mapping anonymous_mapping(uint64_t from, uint64_t to) noexcept {
  Bytes bytes("/proc/self/maps");
  Line line;
  Mapping all;
  while (next_line(bytes, line)) {
    if (line.mapping.to <= from) continue;
    const bool goes_on = all.to == 0 ? line.mapping.from <= from : line.mapping.from == all.to;
    if (!goes_on || !line.is_anonymous) return {};
    if (all.to == 0) all.from = line.mapping.from;
    all.to = line.mapping.to;
    if (all.to >= to) return all;
  }
  return {};
}

}  // namespace pinwire

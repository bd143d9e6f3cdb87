#include "pin/kernel/mapping.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "core/base/no_cancel.h"

namespace pinwire {
namespace {

/// Opened for each look: one that a child of this process inherits shows its parent's mappings.
class List {
  const NoCancel whole_;  // under locks

 public:
  List() noexcept : fd(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  List(const List&) = delete;
  ~List() {
    if (fd >= 0) close(fd);
  }
  const int fd;
};

/// The bytes of a file, one after the other.
class Bytes {
 public:
  explicit Bytes(const List& list) noexcept : fd_(list.fd) {}
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

/// PROCMAP_QUERY of Linux 6.11: one mapping, in the time that a page fault takes to find it. As
/// linux/fs.h has it, which may be older.
struct Query {
  uint64_t size = sizeof(Query);
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t from = 0, to = 0;  // from here on the answer
  uint64_t rights = 0;
  uint64_t page_bytes = 0, offset = 0;
  uint64_t inode = 0;
  uint32_t major = 0, minor = 0;
  uint32_t name_bytes = 0, build_id_bytes = 0;  // not asked for
  uint64_t name = 0, build_id = 0;
};
static_assert(sizeof(Query) == 104);
constexpr unsigned long kQuery = _IOWR('f', 17, Query);
constexpr uint64_t kWritable = 0x2, kShared = 0x8, kCoveringOrNext = 0x10;

/// The mapping at that address or after it. False, with errno: ENOENT, there is none; else the
/// kernel does not know the question.
bool ask(const List& list, uint64_t address, Line& line) noexcept {
  Query query;
  query.flags = kCoveringOrNext;
  query.address = address;
  if (ioctl(list.fd, kQuery, &query) != 0) return false;
  line.mapping = {query.from, query.to};
  line.is_anonymous = (query.rights & (kWritable | kShared)) == kWritable && query.major == 0 &&
                      query.minor == 0 && query.inode == 0;
  return true;
}

/// `next(at, line)`: mappings in the order of their addresses, that at `at` or the one after it
/// among them.
template <typename Next>
Mapping join(uint64_t from, uint64_t to, Next&& next) noexcept {
  Line line;
  Mapping all;
  while (next(all.to != 0 ? all.to : from, line)) {
    if (line.mapping.to <= from) continue;
    const bool goes_on = all.to == 0 ? line.mapping.from <= from : line.mapping.from == all.to;
    if (!goes_on || !line.is_anonymous) return {};
    if (all.to == 0) all.from = line.mapping.from;
    all.to = line.mapping.to;
    if (all.to >= to) return all;
  }
  return {};
}

std::optional<Mapping> answered(uint64_t from, uint64_t to) noexcept {
  const List list;
  int problem = 0;
  const Mapping found = join(from, to, [&](uint64_t at, Line& line) {
    const bool is_there = ask(list, at, line);
    if (!is_there) problem = errno;
    return is_there;
  });
  if (problem != 0 && problem != ENOENT) return std::nullopt;
  return found;
}

}  // namespace

Mapping anonymous_mapping_in_text(uint64_t from, uint64_t to) noexcept {
  const List list;
  Bytes bytes(list);
  return join(from, to, [&bytes](uint64_t, Line& line) { return next_line(bytes, line); });
}

Mapping anonymous_mapping(uint64_t from, uint64_t to) noexcept {
  const auto found = answered(from, to);
  return found ? *found : anonymous_mapping_in_text(from, to);
}

}  // namespace pinwire

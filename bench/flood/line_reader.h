// Lines from a file descriptor without ever waiting for them: the prompt's input, typed or piped.
#pragma once

#include <optional>
#include <string>

namespace pinwire::flood {

class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  /// Waits at most `wait_ms` for input, and takes what is there.
  void poll(int wait_ms);
  /// The next whole line, without its end. The last one of a file needs no end.
  std::optional<std::string> next();
  /// Nothing more will come, and every line has been taken.
  bool at_end() const noexcept { return ended_ && pending_.empty(); }

 private:
  int fd_;
  bool ended_ = false;
  std::string pending_;
};

}  // namespace pinwire::flood

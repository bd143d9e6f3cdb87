// Lines from a file descriptor without ever waiting for them: the prompt's input, typed or piped.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace pinwire::flood {

class LineReader {
 public:
  /// `pending`: what another reader of it has taken, and not handed out.
  explicit LineReader(int fd, std::string pending = "") : fd_(fd), pending_(std::move(pending)) {}

  /// Waits at most `wait_ms` for input, and takes what is there; nothing while it has a line.
  void poll(int wait_ms);
  /// The next whole line, without its end. The last one of a file needs no end.
  std::optional<std::string> next();
  /// Bytes that it has taken, and not handed out.
  const std::string& pending() const noexcept { return pending_; }
  /// Nothing more will come, and every line has been taken.
  bool at_end() const noexcept { return ended_ && pending_.empty(); }

 private:
  int fd_;
  bool ended_ = false;
  std::string pending_;
};

}  // namespace pinwire::flood

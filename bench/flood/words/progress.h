// Tells whoever waits how far a long run is: on a terminal one line that changes, else a line every
// few seconds. On stderr, so that the tables stay clean.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace pinwire::flood {

class Progress {
 public:
  Progress(bool terminal, size_t steps, double now_s)
      : terminal_(terminal), steps_(steps), begin_s_(now_s), told_s_(now_s) {}

  /// The text to print now, or nothing.
  std::string step(size_t index, const std::string& what, double now_s);
  /// Clears the changing line.
  std::string end() const;

 private:
  bool terminal_;
  size_t steps_;
  double begin_s_;
  double told_s_;
};

}  // namespace pinwire::flood

#include "bench/flood/words/progress.h"

#include "bench/flood/words/text.h"

namespace pinwire::flood {
namespace {

constexpr double kTerminalPeriod_s = 0.1;
constexpr double kLogPeriod_s = 5;

}  // namespace

std::string Progress::step(size_t index, const std::string& what, double now_s) {
  if (now_s - told_s_ < (terminal_ ? kTerminalPeriod_s : kLogPeriod_s)) return "";
  told_s_ = now_s;
  const double share = steps_ == 0 ? 1 : static_cast<double>(index) / static_cast<double>(steps_);
  const double used_s = now_s - begin_s_;
  std::string line = text("flood: %zu of %zu, %.0f s", index, steps_, used_s);
  if (share > 0) line += text(", about %.0f s left", used_s / share - used_s);
  line += ": " + what;
  return terminal_ ? "\r\x1b[K" + line : line + "\n";
}

std::string Progress::end() const { return terminal_ ? "\r\x1b[K" : ""; }

}  // namespace pinwire::flood

#include "bench/flood/words/units.h"

#include <cmath>
#include <span>

#include "bench/flood/words/text.h"

namespace pinwire::flood {
namespace {

constexpr double kStep = 1000;
constexpr double kRoundsUp = kStep - 0.5;  // with three digits this is a thousand

/// `units` rise by factors of a thousand; `value` counts the first.
std::string in_unit(double value, std::span<const char* const> units) {
  if (!std::isfinite(value) || value == 0) return significant(value);
  size_t unit = 0;
  while (unit + 1 < units.size() && std::fabs(value) >= kRoundsUp) {
    value /= kStep;
    ++unit;
  }
  return significant(value) + " " + units[unit];
}

}  // namespace

std::string time_text(double us) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  return in_unit(us * kStep, kUnits);
}

std::string rate_text(double per_s) {
  constexpr const char* kUnits[] = {"/s", "k/s", "M/s", "G/s"};
  return in_unit(per_s, kUnits);
}

std::string bandwidth_text(double bytes_per_s) {
  constexpr const char* kUnits[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return in_unit(bytes_per_s, kUnits);
}

}  // namespace pinwire::flood

// Turns time stamps taken in a loop into a histogram of nanoseconds per operation, in units of 1/64
// ns so that means of batches keep their digits.
#pragma once

#include <cstdint>

#include "bench/flood/numbers/histogram.h"
#include "bench/flood/numbers/stopwatch.h"

namespace pinwire::flood {

class Sampler {
 public:
  Sampler(const CycleClock& clock, uint32_t batch) : clock_(clock), batch_(batch) {}

  /// Around each batch of operations.
  void begin() noexcept { begin_ = cycles(); }
  void end() noexcept { record(cycles() - begin_); }
  double percentile_us(double fraction) const noexcept {
    return histogram_.percentile(fraction) / kUnits / 1e3;
  }
  uint32_t batch() const noexcept { return batch_; }
  uint64_t count() const noexcept { return histogram_.count(); }

  /// The cycles that a batch of operations took, one stamp included.
  void record(uint64_t difference) noexcept {
    const double ns = static_cast<double>(difference) * clock_.ns_per_cycle - clock_.stamp_ns;
    histogram_.record(ns > 0 ? static_cast<uint64_t>(ns * kUnits / batch_) : 0);
  }

 private:
  static constexpr double kUnits = 64;
  CycleClock clock_;
  Histogram histogram_;
  uint32_t batch_;
  uint64_t begin_ = 0;
};

}  // namespace pinwire::flood

// How much a lane carries, in both directions together: a path whose ends carry little has no queue
// that they make. All frames of the port count, a stranger's too: they queue like others.
#pragma once

#include <cstdint>

namespace pinwire {

class Load {
 public:
  /// In two periods. The words of a barrier or of a remote lock are less; of a port of 1 Gb/s it is
  /// an eighth, so that several ranks may have it at once.
  static constexpr uint64_t kLowBytes = 16 * 1024;
  static constexpr uint64_t kPeriodNs = 500'000;

  void add(uint64_t bytes) noexcept { bytes_ += bytes; }
  /// Each poll; an absence is one period, in which whatever arrived lay and waited.
  void poll(uint64_t now_ns) noexcept {
    if (now_ns - began_ns_ < kPeriodNs) return;
    began_ns_ = now_ns;
    bytes_before_ = bytes_;
    bytes_ = 0;
  }
  bool is_low() const noexcept { return bytes_before_ + bytes_ <= kLowBytes; }

 private:
  uint64_t began_ns_ = 0;
  uint64_t bytes_ = 0;
  uint64_t bytes_before_ = 0;  ///< in the period before
};

}  // namespace pinwire

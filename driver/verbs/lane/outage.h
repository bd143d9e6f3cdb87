// Whether the port is down, and since when. A link may flap: connections go on as long as the
// device repeats what is not acknowledged. A port error alone is therefore no failure. A port that
// stays down for longer than any repetition takes ends the job also where no transfer is under way
// to say so.
#pragma once

#include <atomic>
#include <cstdint>

namespace pinwire::verbs {

/// Any thread.
class Outage {
 public:
  void begin(uint64_t now_us) noexcept {
    uint64_t none = 0;
    if (since_us_.compare_exchange_strong(none, now_us, std::memory_order_relaxed)) {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void end() noexcept { since_us_.store(0, std::memory_order_relaxed); }
  bool is_now() const noexcept { return since_us_.load(std::memory_order_relaxed) != 0; }
  bool lasts_longer(uint64_t now_us, uint64_t patience_us) const noexcept {
    const uint64_t since_us = since_us_.load(std::memory_order_relaxed);
    return since_us != 0 && now_us > since_us && now_us - since_us > patience_us;
  }
  /// Since the start.
  uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  // Relaxed: figures that order nothing.
  std::atomic<uint64_t> since_us_{0};  // 0: the port is up
  std::atomic<uint32_t> count_{0};
};

/// The longest that a device repeats one request: a timer of `timeout` may run four times as long
/// as it says (IBA 9.7.6.1.3).
constexpr uint64_t repetition_us(uint32_t timeout, uint32_t retry_count) noexcept {
  constexpr uint64_t kUnitNs = 4096, kSlowest = 4;
  return (kUnitNs << timeout) * kSlowest * (retry_count + 1) / 1000;
}

}  // namespace pinwire::verbs

// How long nothing was heard of the other end, a host or the launcher: a network that breaks ends
// no connection.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace pinwire::launch {

/// Each end says so often that it is still there.
constexpr int64_t silence_period_ms(int64_t limit_ms) noexcept {
  constexpr int64_t kBeatsPerLimit = 4;
  return std::max<int64_t>(1, limit_ms / kBeatsPerLimit);
}

/// `of`: the end of which nothing was heard for so long.
inline std::string silence_sentence(const char* of, int64_t limit_ms) {
  char text[96];
  std::snprintf(text, sizeof text, "nothing was heard of %s for %g s (GASNET_SSH_TIMEOUT)", of,
                static_cast<double>(limit_ms) / 1000);
  return text;
}

class Silence {
 public:
  explicit Silence(int64_t limit_ms) noexcept
      : period_ms_(silence_period_ms(limit_ms)), limit_ms_(limit_ms) {}
  void heard(int64_t now_ms) noexcept { looked_ms_ = now_ms, silent_ms_ = 0; }
  /// Whether it lasts too long. A process that stood still (SIGSTOP, a freezer, a suspended host)
  /// heard nothing meanwhile: such a time counts as one period.
  bool is_too_long(int64_t now_ms) noexcept {
    silent_ms_ += std::min(now_ms - looked_ms_, period_ms_);
    looked_ms_ = now_ms;
    return silent_ms_ >= limit_ms_;
  }
  int64_t next_look_ms() const noexcept { return looked_ms_ + period_ms_; }

 private:
  int64_t period_ms_, limit_ms_;
  int64_t looked_ms_ = 0;
  int64_t silent_ms_ = 0;
};

}  // namespace pinwire::launch

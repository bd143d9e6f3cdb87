// The launcher's only loop: it waits for file descriptors. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

namespace pinwire::launch {

int64_t now_ms() noexcept;  ///< of the monotonic clock

class Loop {
 public:
  using Ready = std::function<void(short events)>;
  /// A descriptor that is watched for as long as this lives: its owner is what `ready` uses, and
  /// ends the watch before it closes the descriptor. The loop outlives it.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept;
    Watch& operator=(Watch&& other) noexcept;
    ~Watch() { reset(); }
    void set_events(short events);
    /// The loop does not poll the descriptor until then, though it may be ready.
    void rest(int64_t until_ms);
    void reset() noexcept;
    explicit operator bool() const noexcept { return loop_ != nullptr; }

   private:
    friend class Loop;
    Watch(Loop* loop, int fd) noexcept : loop_(loop), fd_(fd) {}
    Loop* loop_ = nullptr;  // none: nothing is watched
    int fd_ = -1;
  };
  [[nodiscard]] Watch watch(int fd, short events, Ready ready);
  /// Waits at most until `deadline_ms` (none: for ever), or until one has rested, and calls those
  /// that are ready. How long it waited, in ms.
  int64_t run_once(int64_t deadline_ms);
  /// Waits at most `left_ms` (kNever: for ever), calls those that are ready, and returns what is
  /// left of that. Time for which this process was stopped does not count.
  int64_t run_counted(int64_t left_ms);

 private:
  struct Entry {
    short events;
    uint64_t born;  // an fd number may be used anew within one round
    Ready ready;
    int64_t rests_until_ms = 0;
  };
  std::map<int, Entry> entries_;
  uint64_t births_ = 0;
};

inline constexpr int64_t kNever = INT64_MAX;

/// The longest that a process waits at once while there is a deadline.
inline constexpr int64_t kTickMs = 200;
/// A wait that takes so much longer than it may was no wait: the process was stopped or frozen.
inline constexpr int64_t kStoppedMs = 500;
/// The part of a wait that a deadline counts, if the wait took `took_ms` and was to take `limit_ms`
/// at most.
constexpr int64_t counted_ms(int64_t took_ms, int64_t limit_ms) noexcept {
  return took_ms > limit_ms + kStoppedMs ? limit_ms : took_ms;
}

}  // namespace pinwire::launch

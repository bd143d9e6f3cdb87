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
  void watch(int fd, short events, Ready ready);
  void set_events(int fd, short events);
  void forget(int fd);
  /// Waits at most until `deadline_ms` (none: for ever) and calls those that are ready. How long it
  /// waited, in ms.
  int64_t run_once(int64_t deadline_ms);

 private:
  struct Entry {
    short events;
    uint64_t born;  // an fd number may be used anew within one round
    Ready ready;
  };
  std::map<int, Entry> entries_;
  uint64_t births_ = 0;
};

inline constexpr int64_t kNever = INT64_MAX;

}  // namespace pinwire::launch

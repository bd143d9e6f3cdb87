// Continuous traffic: what a rank issues between two polls, until it is told to stop.
#pragma once

#include "bench/flood/loops/buffers.h"
#include "bench/flood/numbers/histogram.h"
#include "bench/flood/numbers/stopwatch.h"
#include "bench/flood/plan/traffic_mode.h"

namespace pinwire::flood {

/// How a payload travels as an AM: the smallest category that carries it.
enum class Category : uint8_t { kShort, kMedium, kLong };
Category category_of(uint64_t bytes);

class Traffic {
 public:
  Traffic(const Path& path, const CycleClock& clock) : path_(path), clock_(clock) {}

  /// `sends`: this rank issues operations; otherwise it only answers.
  void start(const TrafficSettings& settings, bool sends, bool tx_first);
  bool running() const noexcept { return running_; }
  /// At most one burst, and at most about a millisecond.
  void step();
  /// Waits until everything that this rank issued has completed. The others must still poll.
  void halt();
  /// Round trips of the mode pingpong since start, in nanoseconds.
  const Histogram& round_trips() const noexcept { return round_trips_; }

 private:
  void operation();
  void one_way();
  void asked();
  void round_trip();
  void transfer();
  void settle(gasnet_handle_t& handle);

  Path path_;
  CycleClock clock_;
  TrafficSettings settings_;
  Category category_ = Category::kShort;
  bool running_ = false;
  bool sends_ = false;
  uint32_t slot_ = 0;
  uint64_t pongs_expected_ = 0;
  Histogram round_trips_;
};

}  // namespace pinwire::flood

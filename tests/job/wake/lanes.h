// Shared by the tests of arming and waking: all lanes of a job's drivers, without a dispatcher.
#pragma once

#include <poll.h>

#include <cstdarg>
#include <cstdio>

#include "core/engine/engine.h"
#include "gasnet.h"

namespace pinwire_test {

[[noreturn, gnu::format(printf, 1, 2)]] inline void fail(const char* format, ...) {
  std::fprintf(stderr, "rank %u: ", gasnet_mynode());
  va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
  std::fputc('\n', stderr);
  gasnet_exit(1);
}

/// Every visit takes place; whether all returned true.
template <typename Visit>
bool for_each_lane(Visit&& visit) {
  using pinwire::engine;
  bool all = true;
  engine.visit_lanes([&](uint32_t driver, uint32_t lane) {
    all = visit(*engine.drivers[driver].driver, lane) && all;
    return true;
  });
  return all;
}

/// All that was sent is acknowledged; before that, arm() says kTimed at best.
inline bool is_drained() {
  return for_each_lane([](pinwire::Driver& driver, uint32_t lane) { return driver.drained(lane); });
}
/// False: a lane is busy.
inline bool arm_all() {
  return for_each_lane([](pinwire::Driver& driver, uint32_t lane) {
    return driver.arm(lane) == pinwire::Armed::kArmed;
  });
}

/// The event descriptors of all lanes, for poll(2).
struct EventFds {
  static constexpr uint32_t kMax = 64;

  EventFds() {
    for_each_lane([this](pinwire::Driver& driver, uint32_t lane) {
      if (count == kMax) fail("more than %u lanes", kMax);
      const int fd = driver.event_fd(lane);
      if (fd < 0) fail("driver %s cannot wake a sleeper", driver.name());
      all[count++] = {fd, POLLIN, 0};
      return true;
    });
  }

  mutable pollfd all[kMax];
  uint32_t count = 0;
};

}  // namespace pinwire_test

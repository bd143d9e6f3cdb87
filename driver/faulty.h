// A decorator that misbehaves within the contract, from a seed: it refuses work, delays messages
// and completions, fails, and denies capabilities that the driver has, so that tests see the paths
// that a good day never takes.
#pragma once

#include <memory>
#include <string_view>

#include "driver/driver.h"

namespace pinwire {

struct FaultPlan {
  uint64_t seed = 1;
  double refuse = 0;        ///< chance that post() takes only a part, or nothing
  double delay = 0;         ///< chance that recv(), done() or arm() finds nothing, or is busy
  uint64_t fail_after = 0;  ///< posted work until failure() is set and all work fails; 0: never
  bool fail_open = false;   ///< the control plane's calls that fail
  bool fail_connect = false;
  bool fail_pin = false;
  void (*deny[20])(Caps&) = {};  ///< capabilities taken away, in order; nullptr: the end
};

/// Names of what a plan can deny: the flags of Caps, and limits at their lowest.
std::span<const char* const> deniable() noexcept;

/// "refuse=0.1,delay=0.2,seed=7,fail=1000,without=concurrent_post,without=event_fd".
Result<FaultPlan> read_fault_plan(std::string_view text);

std::unique_ptr<Driver> make_faulty(std::unique_ptr<Driver> inner, const FaultPlan& plan);

}  // namespace pinwire

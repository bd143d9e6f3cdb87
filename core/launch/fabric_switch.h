// The L2 switch process that joins more than two ranks of one host over DPDK.
#pragma once

#include <optional>

#include "core/config/settings.h"
#include "core/launch/process.h"
#include "driver/work.h"

namespace pinwire::launch {

/// Whether a job of so many ranks, all of this host, needs one. A sentence if they cannot meet over
/// DPDK in `job_dir`, or are more than a switch has ports.
Result<bool> needs_switch(const Settings& settings, Rank rank_count, const std::string& job_dir);

class FabricSwitch {
 public:
  /// Returns when it says that it is ready. `report`: its counters are shown at its end.
  static Result<FabricSwitch> start(const Settings& settings, Rank port_count,
                                    const std::string& job_dir, bool report);
  FabricSwitch(FabricSwitch&&) = default;
  FabricSwitch& operator=(FabricSwitch&&) = delete;
  /// Lets it end orderly, for it may report what it did.
  ~FabricSwitch();
  /// A child of this process has ended. Reaps it and returns a sentence if that is the switch: then
  /// no frame passes between the ranks any more, and they would wait for each other for ever.
  std::optional<std::string> reap(pid_t process);

 private:
  FabricSwitch(ChildProcess process, Fd out, bool report)
      : process_(std::move(process)), out_(std::move(out)), report_(report) {}
  void pass_report_on();
  ChildProcess process_;
  Fd out_;
  bool report_;
};

}  // namespace pinwire::launch

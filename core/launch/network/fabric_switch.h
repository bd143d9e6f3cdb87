// The L2 switch process that joins more than two ranks of one host over DPDK.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/config/settings.h"
#include "core/launch/process/process.h"
#include "core/launch/process/supervisor_loop.h"
#include "driver/work.h"

namespace pinwire::launch {

/// Whether a job of so many ranks, all of this host, needs one. A sentence if they cannot meet over
/// DPDK in `job_dir`, or are more than a switch has ports.
Result<bool> needs_switch(const Settings& settings, Rank rank_count, const std::string& job_dir);

class FabricSwitch {
 public:
  /// Returns when it says that it is ready; a sentence, and none is left, if it does not or if a
  /// signal asks for the end. `report`: its counters are shown at its end.
  static Result<std::unique_ptr<FabricSwitch>> start(SupervisorLoop& loop, const Settings& settings,
                                                     Rank port_count, const std::string& job_dir,
                                                     bool report);
  FabricSwitch(const FabricSwitch&) = delete;
  FabricSwitch& operator=(const FabricSwitch&) = delete;
  /// `lost` gets a sentence when it ends before stop(): then no frame passes between the ranks any
  /// more, and they would wait for each other for ever.
  void when_lost(std::function<void(const std::string& sentence)> lost);
  /// Lets it end orderly, for it may report what it did. A signal that asks for the end, or a while
  /// without an answer, kills it. Returns within 2 s.
  void stop();

 private:
  FabricSwitch(SupervisorLoop& loop, StartingProcess begun, Fd out, bool report);
  bool reap(pid_t process);
  void read_words();
  bool is_ready() const { return ("\n" + words_).find("\nready\n") != std::string::npos; }
  bool has_ended() const noexcept { return process_.number() < 0 || words_end_; }
  Status wait_until_ready(const std::string& path);
  void pass_report_on();

  SupervisorLoop& loop_;
  ChildProcess process_;
  StartReport start_;
  Fd out_;
  Loop::Watch out_watch_;
  const SupervisorLoop::ChildWatch children_;
  std::string words_;  // until it is ready
  bool words_end_ = false;
  std::string lost_sentence_;  // empty: it has not been lost
  std::function<void(const std::string&)> lost_;
  bool report_;
};

}  // namespace pinwire::launch

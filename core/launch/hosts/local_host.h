// The ranks of this host: forked, each with a socket to talk on and pipes for its output.
#pragma once

#include <optional>
#include <vector>

#include "core/launch/hosts/host.h"
#include "core/launch/hosts/rank_output.h"
#include "core/launch/hosts/rank_socket.h"
#include "core/launch/loop/loop.h"
#include "core/launch/process/oom_kills.h"
#include "core/launch/process/process.h"

namespace pinwire::launch {

/// The settings that the ranks of one host have in common, and those of each.
struct LocalPlan {
  std::string host_name;
  Rank first = 0;
  Rank count = 0;
  Rank rank_count = 0;  ///< of the whole job
  std::string path;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  ///< NAME=value, for every rank
  int stdin_fd = -1;                     ///< of rank 0, if it runs here
  bool no_aslr = false;
  struct Own {
    std::vector<std::string> environment;
    std::vector<int> cpus;
    int net_namespace_fd = -1;
  };
  std::vector<Own> own;  ///< `count` of them
};

/// A process that has ended so long ago and cannot be reaped is held by a debugger. Shorter than
/// kHungUpMs: a rank that has ended is not one that lives without its descriptors.
inline constexpr int64_t kHeldMs = 500;

class LocalHost final : public Host {
 public:
  LocalHost(Loop& loop, HostEvents& events, LocalPlan plan);
  const std::string& name() const noexcept override { return plan_.host_name; }
  Rank first() const noexcept override { return plan_.first; }
  Rank count() const noexcept override { return plan_.count; }
  bool shares_terminal() const noexcept override { return true; }
  Status start() override;
  void send(Rank rank, FrameKind kind, uint32_t round, const SharedBytes& message) override;
  void signal_rank(Rank rank, int signal_number) override;
  bool lives(Rank rank) { return local(rank).process.number() > 0; }
  std::string why_not_killed(Rank rank) override;
  void pause_output(bool pause) override;
  void drain_output() override;
  void drain_output(Rank rank);
  void stop_output(int stream) override;
  int64_t deadline_ms() const override;
  void due(int64_t now_ms) override;
  bool reap(pid_t process) override;
  bool close() override { return true; }

 private:
  struct LocalRank {
    ChildProcess process;  // none: not started, or ended
    /// When its process is looked at that has ended, and that a debugger may hold.
    int64_t held_look_ms = kNever;
    bool is_said_held = false;
    bool kill_sent = false;
    StartReport start;
    std::optional<RankSocket> socket;  // none: not started
    std::optional<RankOutput> output;
    Loop::Watch start_watch, end_watch;
  };
  Status begin_rank(Rank rank);
  void look_at_start(Rank rank);
  void watch(Rank rank);
  void take_frame(Rank rank, const FrameHeader& header, Bytes chunk);
  void take_output(Rank rank, int stream, std::string_view text);
  void explain_end(Rank rank, int wait_status);
  void await_reaping(Rank rank);
  void look_at_held(Rank rank, int64_t now_ms);
  void tell_end(Rank rank, int wait_status);
  LocalRank& local(Rank rank);

  Loop& loop_;
  HostEvents& events_;
  LocalPlan plan_;
  std::vector<LocalRank> ranks_;
  bool paused_ = false;
  OomKills oom_kills_;
};

}  // namespace pinwire::launch

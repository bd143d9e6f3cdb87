// How a job ends: which ranks are signalled and when, what is reported, and which code it ends
// with. Pure: it is told what happened and at what time, and gives orders; therefore every sequence
// can be tested without a process.
//
//   running --a rank leaves--> leaving --exit timeout--> quitting --grace--> killing
//      \------a rank crashes-------------------------------^
//
// C1-098...108: a rank that leaves ends the job. The others may leave too within the exit timeout
// (a collective exit sees no signal); after it they get SIGQUIT, and after a grace SIGKILL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/launch/loop/loop.h"
#include "driver/work.h"

namespace pinwire::launch {

/// The actions that Ending asks its owner for.
class EndingOrders {
 public:
  virtual ~EndingOrders() = default;
  virtual void signal_rank(Rank rank, int signal_number) = 0;
  virtual void say(const std::string& sentence) = 0;
  /// "rank 3 (process 4711 on host n1)"
  virtual std::string describe(Rank rank) const = 0;
  /// Why SIGKILL does not end it; empty if it may be on its way.
  virtual std::string why_not_killed(Rank rank) const = 0;
};

inline constexpr int64_t kQuitGraceMs = 800;
/// Until a rank that has hung up has ended, if that was why.
inline constexpr int64_t kHungUpMs = 1000;
/// A rank that has a reason to live on at the end of so many SIGKILL in a row, kQuitGraceMs apart,
/// is given up. (One look may find a rank in a wait for a disk that is soon over.)
inline constexpr int kKillsMax = 3;
/// For ranks that have all said that they leave.
inline constexpr int64_t kTeardownMs = 5000;

class Ending {
 public:
  Ending(Rank rank_count, int64_t exit_timeout_ms, EndingOrders& orders);

  void joined(Rank rank, int64_t now_ms);
  void left(Rank rank, int code, int64_t now_ms);
  void ended(Rank rank, int wait_status, int64_t now_ms);
  /// The launcher cannot learn any more how the rank ends: its host failed, which failed() has
  /// reported.
  void lost(Rank rank);
  /// It closed its end of the socket to the launcher: by its own end, of which ended() tells soon,
  /// or else with all that the library has open, on which its peers may wait for ever.
  void hung_up(Rank rank, int64_t now_ms);
  /// The launcher got a signal; `ranks_got_it`: the terminal sent it to the whole process group.
  void interrupted(int signal_number, bool ranks_got_it, int64_t now_ms);
  /// No process reads the job's output any more: a rank that ends by SIGPIPE ends as it should.
  void reader_gone() noexcept { reader_is_gone_ = true; }
  /// The whole job stood still for so long.
  void postpone(int64_t ms) noexcept {
    if (deadline_ms_) *deadline_ms_ += ms;
  }
  /// A wait of at most kTickMs took `ms`, and `deadline_ms` was the deadline when it began. A stop
  /// that sends no signal, as by SIGSTOP or a cgroup's freezer, shows in nothing else. Counts for
  /// no deadline; one that was set since then was set after the stop.
  void waited(int64_t ms, std::optional<int64_t> deadline_ms) noexcept {
    if (deadline_ms == deadline_ms_) postpone(ms - counted_ms(ms, kTickMs));
  }
  /// The job cannot go on (a host is lost, a rank breaks the protocol): as after a crash.
  void failed(int code, const std::string& sentence, int64_t now_ms);

  /// A rank that cannot start: what runs is killed at once, as it has done nothing yet.
  void not_started(int code, const std::string& sentence, int64_t now_ms);

  std::optional<int64_t> deadline_ms() const noexcept { return deadline_ms_; }
  void due(int64_t now_ms);
  bool over() const noexcept { return ended_count_ == ranks_.size(); }
  /// The signal by which the user has ended the job; 0: none. A SIGINT that the ranks have taken
  /// for themselves is none.
  int ended_by() const noexcept { return ended_by_; }
  int exit_code() const noexcept { return code_.value_or(0) & 255; }

 private:
  enum class Phase { kRunning, kLeaving, kQuitting, kKilling };
  struct RankState {
    bool joined = false, left = false, ended = false, hung_up = false;
    int unkilled = 0;       // SIGKILL in a row that it has survived for a reason
    bool given_up = false;  // it counts as ended, and may still end
  };
  void exited(Rank rank, int code, int64_t now_ms);
  void killed(Rank rank, int signal_number, int64_t now_ms);
  void tell_who_hung_up();
  void begin_leaving(int64_t now_ms);
  void begin_quitting(int64_t now_ms);
  void begin_killing(int64_t now_ms);
  void give_up_unkillable();
  void signal_ranks(int signal_number, bool also_those_that_left);
  void mark_ended(Rank rank);
  bool all_left() const noexcept;
  void set_code(int code);

  std::vector<RankState> ranks_;
  const int64_t exit_timeout_ms_;
  EndingOrders& orders_;
  Phase phase_ = Phase::kRunning;
  std::optional<int64_t> deadline_ms_;
  std::optional<int> code_;
  int user_signal_ = 0;  // what the user sent; ranks that die of it are no surprise
  int ended_by_ = 0;
  size_t ended_count_ = 0;
  bool cause_is_sure_ = false;  // a rank died of a signal not its own, or the job itself failed
  bool reader_is_gone_ = false;
  bool silent_end_ = false;  // a rank that never joined has ended well
};

}  // namespace pinwire::launch

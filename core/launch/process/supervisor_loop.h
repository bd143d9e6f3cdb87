// The events of a process that supervises others, a launcher or an agent: descriptors, ends of its
// children and signals of its user, from before its first child until after its last. Every wait of
// such a process is turns of this one loop, so a signal ends each of them.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/launch/loop/loop.h"
#include "core/launch/loop/signals.h"

namespace pinwire::launch {

class SupervisorLoop {
 public:
  using Reap = std::function<bool(pid_t)>;
  using Heed = std::function<void(int signal_number, bool from_terminal)>;
  SupervisorLoop();
  Loop& loop() noexcept { return loop_; }
  /// A sentence if the kernel refuses to tell of signals (Signals::opened()).
  Status opened() const { return signals_.opened(); }
  struct EndChildWatch {
    SupervisorLoop* loop = nullptr;
    void operator()(const Reap* reap) const;
  };
  /// Its owner is what `reap` uses. The loop outlives it.
  using ChildWatch = std::unique_ptr<const Reap, EndChildWatch>;
  /// As long as what it returns lives, `reap` is asked for each child that has ended, and returns
  /// whether it reaped it (reap_children()).
  [[nodiscard]] ChildWatch watch_children(Reap reap);
  /// From now on signals go there, those that came before first, and `heed` notes the ends that it
  /// acts upon (note_end()). An empty one: signals are kept, and one that asks for the end is
  /// noted.
  void hand_signals_to(Heed heed);
  /// SIGTSTP and SIGCONT are events, too, from now on (Signals::watch_stops()).
  void watch_stops() { signals_.watch_stops(); }
  /// The first signal that asks for the end of all, and that nobody has taken. 0: none.
  int end_asked() const noexcept;
  /// Turns until `done()`. False if that does not come within `limit_ms`, or if end_asked(). Time
  /// for which this process was stopped does not count.
  bool turn_until(const std::function<bool()>& done, int64_t limit_ms);
  /// The same, whatever asks for the end: for a wait of which that end itself consists.
  bool turn_until_in_any_case(const std::function<bool()>& done, int64_t limit_ms);
  /// Asks for all children that have ended by now, without a turn.
  void reap();

 private:
  void take(int signal_number, bool from_terminal);
  Loop loop_;
  std::vector<const Reap*> reaps_;
  Heed heed_;
  std::vector<std::pair<int, bool>> kept_;  // signals that nobody has taken: number, from_terminal
  Signals signals_;
};

}  // namespace pinwire::launch

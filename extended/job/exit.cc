#include "extended/job/exit.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "am/interrupts/dispatcher.h"
#include "am/interrupts/heartbeat.h"
#include "am/interrupts/interrupts.h"
#include "am/poll/owed.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/no_cancel.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/checks/usage.h"
#include "extended/job/debugging.h"
#include "extended/job/flush.h"
#include "extended/state/job.h"

namespace pinwire {
namespace {

std::atomic<bool> leaving{false};
std::atomic<int> code_of_this_rank{0};
constexpr itimerval kNoTimer{};
pid_t rank_process = 0;

/// Ignores what the network still brings: this rank runs no handlers any more.
struct DiscardSink {
  void message(uint32_t, const Recv&) const noexcept {}
  void done(uint64_t) const noexcept {}
};

/// One turn over everything; true when no driver owes its peers anything.
bool drain_all() noexcept {
  bool is_drained = true;
  const bool may_touch = engine.visit_lanes([&](uint32_t driver, uint32_t lane) noexcept {
    DriverSlot& slot = engine.drivers[driver];
    // In PAR another thread may have it; else a signal handler is on top of a poll.
    if (!slot.lanes[lane].try_lock()) return is_concurrent();
    drain_lane(driver, lane, RecvFilter::kAll, DiscardSink{});
    settle_owed(slot, lane);
    is_drained = is_drained && slot.driver->drained(lane) && !owes_unsent(slot.lanes[lane]);
    slot.lanes[lane].unlock();
    return true;
  });
  return is_drained || !may_touch;
}

/// A network driver still owes its peers acknowledgements and retransmissions: without them the
/// last messages of a job would be lost with their sender. It keeps working until nothing is owed,
/// or the exit timeout is over. Inside a handler the lane is in use further down this stack, so
/// this cannot be done; gasnet_exit from a handler is an emergency, not the orderly end.
void linger() noexcept {
  Job& own = *job();
  if (!own.attached || this_thread.in_handler) return;
  const double until = monotonic_s() + exit_timeout_s(own.settings, engine.rank_count);
  while (!drain_all() && monotonic_s() < until) {
  }
}

/// Takes the locks of all lanes of a driver for good: other threads may still be in the library.
/// False if one of them keeps a lane, in a handler that does not end.
bool seal(DriverSlot& slot) noexcept {
  constexpr int kTurnsMax = 100;
  constexpr useconds_t kTurnUs = 100;
  for (uint32_t lane = 0; lane < slot.lane_count; ++lane) {
    int turns = 0;
    while (!slot.lanes[lane].try_lock()) {
      if (!is_concurrent() || ++turns == kTurnsMax) return false;
      usleep(kTurnUs);
    }
  }
  return true;
}

void end_now(int) { _exit(code_of_this_rank.load()); }

/// A signal handler that leaves may have interrupted anything, an allocation too, whose locks are
/// then held for ever: after a second this rank ends as it is.
void end_soon_in_any_case() noexcept {
  struct sigaction alarm {};
  alarm.sa_handler = end_now;
  take_alarms(alarm);
  const itimerval second{{0, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &second, nullptr);
}

void close_drivers() noexcept {
  end_soon_in_any_case();
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    if (seal(engine.drivers[d])) engine.drivers[d].driver->close();
  }
  setitimer(ITIMER_REAL, &kNoTimer, nullptr);
}

/// The steps that every way out begins with. The launcher learns `code` first: the other ranks'
/// time to leave begins then, too.
void begin_leaving(int code, Bootstrap::AfterIt after) noexcept {
  code_of_this_rank.store(code & 0xff);
  if constexpr (kUsageChecks) {
    if (code == 0 && !this_thread.in_handler) warn_of_leaks();
  }
  job()->bootstrap->leaving(code, after);
  refuse_interrupts();
  stop_dispatcher();
  stop_heartbeat();
  setitimer(ITIMER_REAL, &kNoTimer, nullptr);  // the client's, whose handler would come in between
}
void finish_leaving() noexcept {
  linger();
  report_counters();
  finish_trace();
  if (!this_thread.in_handler) close_drivers();
  job()->bootstrap->before_end();
}

[[noreturn]] void finish_and_end() noexcept {
  finish_leaving();
  _exit(code_of_this_rank.load());
}

/// return from main() or exit(): the job must not hang without this rank (C1-106).
void at_exit(int code, void*) noexcept {
  const NoCancel whole;
  const bool is_this_rank = getpid() == rank_process;  // and no child that the client forked
  if (!is_this_rank || leaving.exchange(true)) return;
  begin_leaving(code, Bootstrap::AfterIt::kExitHandlers);
  flush_free_streams();
  finish_leaving();
}

/// C1-104. A child that the client forked ends by its own signal; it is blocked in here, and comes
/// on return.
void on_terminate(int number) {
  if (getpid() == rank_process) {
    raise(SIGQUIT);
  } else {
    signal(number, SIG_DFL);
    raise(number);
  }
}

/// A client's own handler, set before gasnet_init, stays.
void install_unless_taken(int signal_number) noexcept {
  struct sigaction now {};
  if (sigaction(signal_number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction mine {};
  mine.sa_handler = on_terminate;
  mine.sa_flags = SA_RESTART;
  sigemptyset(&mine.sa_mask);
  sigaction(signal_number, &mine, nullptr);
}

/// A shell starts its background jobs with SIGQUIT ignored: nothing of GASNet's could end them.
void heed(int signal_number) noexcept {
  struct sigaction now {};
  if (sigaction(signal_number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) {
    signal(signal_number, SIG_DFL);
  }
}

}  // namespace

void prepare_exit(SignalSet left_alone) noexcept {
  if (!holds(left_alone, SIGQUIT)) heed(SIGQUIT);
  for (const int number : {SIGTERM, SIGINT})
    if (!holds(left_alone, number)) install_unless_taken(number);
  rank_process = getpid();
  on_exit(at_exit, nullptr);
}

void leave_job(int code) noexcept {
  const NoCancel whole;
  // A child that the client forked is no rank: it leaves alone, and the rank's drivers to the rank.
  if (getpid() != rank_process) {
    std::fflush(nullptr);  // it has the calling thread alone
    _exit(code & 0xff);
  }
  if (leaving.exchange(true)) {
    // Another thread, or a frame below this signal handler, is already leaving with its own code.
    for (;;) pause();
  }
  begin_leaving(code, Bootstrap::AfterIt::kNothing);
  flush_all_streams([]() noexcept { finish_and_end(); });
  finish_and_end();
}

}  // namespace pinwire

#include "extended/exit.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "am/dispatch.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "extended/job.h"

namespace pinwire {
namespace {

std::atomic<bool> leaving{false};
pid_t rank_process = 0;

double now_s() noexcept {
  timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<double>(at.tv_sec) + 1e-9 * static_cast<double>(at.tv_nsec);
}

/// Ignores what the network still brings: this rank runs no handlers any more.
struct DiscardSink {
  void message(uint32_t, const Recv&) const noexcept {}
  void done(uint64_t) const noexcept {}
};

/// One turn over everything; true when no driver owes its peers anything.
bool drain_all() noexcept {
  bool is_drained = true;
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    DriverSlot& slot = engine.drivers[d];
    for (uint32_t lane = 0; lane < slot.lane_count; ++lane) {
      if (!slot.lanes[lane].try_lock()) {
        // A signal handler on top of a poll: nothing may be touched. In PAR another thread may have
        // it.
        if constexpr (!kConcurrent) return true;
        continue;
      }
      drain_lane(d, lane, RecvFilter::kAll, DiscardSink{});
      is_drained = is_drained && slot.driver->drained(lane);
      slot.lanes[lane].unlock();
    }
  }
  return is_drained;
}

/// A network driver still owes its peers acknowledgements and retransmissions: without them the
/// last messages of a job would be lost with their sender. It keeps working until nothing is owed,
/// or the exit timeout is over. Inside a handler the lane is in use further down this stack, so
/// this cannot be done; gasnet_exit from a handler is an emergency, not the orderly end.
void linger() noexcept {
  Job& own = *job();
  if (!own.attached || this_thread.in_handler) return;
  const double until = now_s() + exit_timeout_s(own.settings, engine.rank_count);
  while (!drain_all() && now_s() < until) {
  }
}

/// What every way out has in common. `code` is told to the launcher first: the others' time to
/// leave too begins then.
void say_good_bye(int code) noexcept {
  Job& own = *job();
  own.bootstrap->leaving(code);
  std::fflush(nullptr);
  linger();
  if (!this_thread.in_handler) {
    for (auto& driver : own.drivers) driver->close();
  }
  own.bootstrap->before_end();
}

/// return from main() or exit(): the job must not hang without this rank (C1-106).
void at_exit(int code, void*) noexcept {
  const bool is_this_rank = getpid() == rank_process;  // and no child that the client forked
  if (is_this_rank && !leaving.exchange(true)) say_good_bye(code);
}

void on_terminate(int) { raise(SIGQUIT); }  // C1-104

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
  if (leaving.exchange(true)) {
    // Another thread, or a frame below this signal handler, is already leaving with its own code.
    for (;;) pause();
  }
  say_good_bye(code);
  _exit(code & 0xff);
}

}  // namespace pinwire

#include "am/interrupts/dispatcher.h"

#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "am/interrupts/dispatcher_bell.h"
#include "am/interrupts/interrupts.h"
#include "am/poll/owed.h"
#include "am/poll/poll.h"
#include "am/wait/wait.h"
#include "am/wake/sleepers.h"
#include "core/base/clock.h"
#include "core/base/counter.h"
#include "core/base/descriptors/event_fd.h"
#include "core/base/descriptors/no_descriptor.h"
#include "core/base/threads/cpus.h"
#include "core/base/threads/library_thread.h"
#include "core/engine/client_usage.h"
#include "core/engine/engine.h"
#include "core/engine/open_board.h"

namespace pinwire {
namespace {

/// The network may lose messages that the client posts while this thread sleeps, and a client that
/// computes does not run the drivers, which would send them again.
constexpr uint32_t kSleepUs = 100'000;
/// A client that polls gets arrivals sooner than this thread could, so this thread leaves the lanes
/// alone for a grace period, which grows as long as the client polls. Once the client stops
/// polling, one message waits for that period.
constexpr uint32_t kGraceMinUs = 50, kGraceMaxUs = 400;
/// Drivers need turns while they owe their peers something, or their peers owe them something.
constexpr uint32_t kDispatcherTurnUs = 100;
/// All threads that were asked may stay in a section for long, or block the signal; meanwhile
/// threads end, and new ones start.
constexpr uint32_t kAskAgainUs = 10'000;
/// The period of a check that debug builds do.
constexpr int64_t kLookNs = 20'000'000;

/// Counted by the dispatcher alone.
struct DispatcherCounters {
  Counter asks, asks_again, signals, threads_held_off;
  Counter sleeps, wakes;  ///< of them by an event, not by time
  Counter found_beside;   ///< messages and completions, by itself
};

class Dispatcher {
 public:
  Status start(DispatchMode mode, uint32_t watchdog_us, const std::vector<uint32_t>& cpus) {
    mode_ = mode;
    watchdog_us_ = watchdog_us;
    if (auto opened = open_fds(); !opened) return opened;
    is_running_.store(true, std::memory_order_relaxed);
    pthread_t thread;
    const int why = start_library_thread(
        &thread,
        [](void* self) -> void* {
          static_cast<Dispatcher*>(self)->run();
          return nullptr;
        },
        this);
    if (why != 0) {
      is_running_.store(false, std::memory_order_relaxed);
      return error(
          "cannot start the thread that GASNET_DISPATCH asks for: %s; %s, or say "
          "GASNET_DISPATCH=poll",
          std::strerror(why), kRaiseThreads);
    }
    pthread_setname_np(thread, "dispatcher");
    run_on(thread, cpus);
    pthread_detach(thread);
    return success();
  }

  void stop() noexcept {
    constexpr int kTurnsMax = 1000;
    constexpr useconds_t kPauseUs = 100;
    is_stopping_.store(true, std::memory_order_relaxed);
    if (is_self_) return;  // a handler that it runs ends the process
    for (int i = 0; i < kTurnsMax && is_running_.load(std::memory_order_acquire); ++i) {
      wake_dispatcher();
      usleep(kPauseUs);
    }
  }

  /// Called by a client thread that waits, and so polls. The dispatcher, once it is awake, leaves
  /// the lanes to that thread for a while, and arms them again after that; other sleepers arm them
  /// at once.
  void call_off() noexcept {
    if (!is_armed_.load(std::memory_order_relaxed)) [[likely]]
      return;
    if (waits_sleep.load(std::memory_order_relaxed)) return;  // a waiting client arms the lanes
    if (!is_armed_.exchange(false, std::memory_order_relaxed)) return;
    bool was_armed = false;
    for_each_free_lane([&was_armed](DriverSlot& slot, uint32_t lane) {
      was_armed = slot.driver->disarm(lane) || was_armed;
    });
    if (!was_armed) return;
    call_sleepers();
    wake_dispatcher();
  }

  void report(StatSink& sink) const noexcept {
    sink.stat("asks", counters_.asks);
    sink.stat("asks_again", counters_.asks_again);
    sink.stat("signals", counters_.signals);
    sink.stat("threads_held_off", counters_.threads_held_off);
    sink.stat("sleeps", counters_.sleeps);
    sink.stat("wakes", counters_.wakes);
    sink.stat("found_beside", counters_.found_beside);
  }

 private:
  Status open_fds() {
    dispatcher_bell.fd = open_event_fd();
    all_fds_ = epoll_create1(EPOLL_CLOEXEC);
    own_fd_ = epoll_create1(EPOLL_CLOEXEC);
    const bool are_open = dispatcher_bell.fd >= 0 && all_fds_ >= 0 && own_fd_ >= 0 &&
                          watch(all_fds_, dispatcher_bell.fd) && watch(own_fd_, dispatcher_bell.fd);
    if (!are_open) {
      return error("cannot open what GASNET_DISPATCH needs: %s", no_descriptor(errno).c_str());
    }
    if (mode_ == DispatchMode::kNicproc) return success();
    const Driver* unwatched = nullptr;
    const bool are_watched = engine.visit_lanes([&](uint32_t driver, uint32_t lane) {
      unwatched = engine.drivers[driver].driver;
      const int fd = unwatched->event_fd(lane);
      return fd >= 0 && watch(all_fds_, fd);
    });
    if (are_watched) return success();
    return error(
        "driver %s cannot wake a thread that sleeps, as this GASNET_DISPATCH needs; "
        "say poll or nicproc, or take another device",
        unwatched->name());
  }
  static bool watch(int epoll_fd, int fd) noexcept {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
  }

  void run() noexcept {
    is_self_ = true;
    // Handlers that it runs reply on the lane of the request; it is none of the client's threads.
    this_thread.lane = engine.lane_count - 1;
    if (mode_ == DispatchMode::kNicproc) {
      spin();
    } else {
      polls_seen_ = count_polls();
      while (!is_stopping()) {
        look_at_what_is_open();
        turn();
      }
    }
    is_running_.store(false, std::memory_order_release);  // pairs with stop()
  }
  bool is_stopping() const noexcept { return is_stopping_.load(std::memory_order_relaxed); }

  void spin() noexcept {
    uint32_t empty_polls = 0;
    while (!is_stopping()) {
      look_at_what_is_open();
      if (poll_politely() != 0) {
        empty_polls = 0;
      } else {
        after_empty_poll(empty_polls, Wait::kAwake);
      }
    }
  }

  /// Debug builds: of the client's threads. Every kSleepUs at least, as long as this thread runs.
  void look_at_what_is_open() noexcept {
    if constexpr (kUsageChecks) {
      const int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
      if (now_ns < looks_at_ns_) return;
      looks_at_ns_ = now_ns + kLookNs;
      warn_of_what_is_open();
    }
  }

  void turn() noexcept {
    if (serve(Service::kUntilArrival)) return take_care();
    take_handed_over();  // somebody has served it
    has_waited_ = asks_another_ = false;
    if (somebody_polls()) {
      sleep(own_fd_, grace_us_);
      grace_us_ = std::min(2 * grace_us_, kGraceMaxUs);
      return;
    }
    grace_us_ = kGraceMinUs;
    switch (arm_all()) {
      case Armed::kArmed:
        sleep_armed(kSleepUs);
        break;
      case Armed::kTimed:
        sleep_armed(kDispatcherTurnUs);
        break;
      case Armed::kBusy:
        sleep(own_fd_, kDispatcherTurnUs);
        break;
    }
  }

  /// Has the messages handled that wait, by a client thread or by this one.
  void take_care() noexcept {
    if (mode_ == DispatchMode::kThread) {
      const uint32_t found = poll_politely();
      counters_.found_beside += found;
      if (found == 0) sched_yield();  // to the sender that it leaves a lane to
      return;
    }
    if (take_handed_over()) return run_handed_over();
    call_sleepers();  // a client that waits polls by itself, once it is awake
    if (mode_ == DispatchMode::kWatchdog && (!has_waited_ || somebody_polls())) {
      has_waited_ = true;
      serve(Service::kWhole);
      sleep(own_fd_, watchdog_us_);
      return;
    }
    has_waited_ = false;  // ask_client() sets it again where it runs the handlers here
    ask_client();
  }

  /// Handles everything that is there, not only the first messages: another signal, or another
  /// period of the watchdog, would pass before the rest. If more keeps arriving, the client, which
  /// may be at its own work by now, is asked again immediately.
  void run_handed_over() noexcept {
    constexpr uint32_t kTurnsMax = 64;
    uint32_t found = 1;
    for (uint32_t i = 0; i < kTurnsMax && found != 0 && !is_stopping(); ++i) {
      found = poll_everything();
      counters_.found_beside += found;
    }
    has_waited_ = found != 0;
  }

  /// Serves peers while a client that has handled messages for long does its own work.
  void leave_room() noexcept {
    while (clock_ns(CLOCK_MONOTONIC) <
           dispatcher_bell.room_until_ns.load(std::memory_order_relaxed)) {
      if (is_stopping()) return;
      serve(Service::kWhole);
      usleep(kDispatcherTurnUs);
    }
  }

  static bool send_none(const ClientThread&) noexcept { return false; }

  /// Asks a client thread to run the handlers, and another one than before if that was in vain. A
  /// client that blocks the signal counts as blocking it, whatever it polls meanwhile, until one of
  /// its threads no longer does: otherwise each of its messages would wait for an answer that does
  /// not come.
  void ask_client() noexcept {
    leave_room();
    ++counters_.asks;
    if (asks_another_) ++counters_.asks_again;
    if (keep_signal()) resend_signals();
    all_block_ = all_block_ && every_client_blocks_interrupts();  // or did when last asked in vain
    const Asked asked = notify_client(asks_another_, all_block_ ? send_none : send_interrupt);
    counters_.signals += asked.is_signalled;
    counters_.threads_held_off += asked.held_off;
    asks_another_ = false;
    // Threads that are inside a call run the handlers themselves at its end.
    if (all_block_ && asked.held_off == 0) return run_handed_over();
    // A thread that only has no core will run the handlers itself. A thread that loses its core as
    // the signal reaches it, before it has entered the library, looks as if it blocked the signal:
    // the next question tells, and until then its handlers run here.
    if (asked.is_in_vain && !interrupts_anywhere && every_client_blocks_interrupts()) {
      all_block_ = true;
      return run_handed_over();
    }
    // A signalled thread serves the drivers immediately; a thread inside a library call does so
    // when the call returns; one in a No-Interrupt Section only when the section ends.
    if (!asked.is_signalled) {
      if (sleep(own_fd_, kDispatcherTurnUs)) return;
      serve(Service::kWhole);
    }
    asks_another_ = !sleep(own_fd_, kAskAgainUs);
  }

  /// Whether a client thread has polled since the last call.
  bool somebody_polls() noexcept {
    const uint64_t polls = count_polls();
    const bool is_more = polls != polls_seen_;
    polls_seen_ = polls;
    return is_more;
  }

  /// Drivers serve their peers only after the signal for messages that have arrived: an
  /// acknowledgement may wake a peer, which costs a system call and an interrupt of another core.
  enum class Service : uint8_t { kUntilArrival, kWhole };

  /// Gives every driver one turn, without running handlers. True: messages wait that no thread
  /// takes.
  static bool serve(Service service) noexcept {
    bool waits = false;
    for_each_free_lane([&](DriverSlot& slot, uint32_t lane) {
      // A driver that has served peers is idle after a turn in which it did not.
      constexpr int kTurnsMax = 4;
      bool is_idle = false;
      for (int turn = 0; turn < kTurnsMax && !is_idle; ++turn) {
        slot.driver->recv(lane, RecvFilter::kAll, {});
        if (service == Service::kUntilArrival && slot.driver->has_arrivals(lane)) break;
        is_idle = slot.driver->idle(lane);
      }
      waits = waits || !is_idle;
      settle_owed(slot, lane);
    });
    return waits;
  }

  /// As Driver::arm(), of all lanes; kBusy, too, if one is in use.
  static Armed arm_all() noexcept {
    bool is_busy = false, is_timed = false;
    const bool all = for_each_free_lane([&](DriverSlot& slot, uint32_t lane) {
      const Armed armed = arm_lane(slot, lane);
      is_busy = is_busy || armed == Armed::kBusy;
      is_timed = is_timed || armed == Armed::kTimed;
    });
    if (is_busy) call_sleepers();  // this thread may have taken their event
    return is_busy || !all ? Armed::kBusy : is_timed ? Armed::kTimed : Armed::kArmed;
  }

  /// False: a lane is in use.
  template <typename Visit>
  static bool for_each_free_lane(Visit&& visit) noexcept {
    bool all = true;
    engine.visit_lanes([&](uint32_t driver, uint32_t lane) noexcept {
      DriverSlot& slot = engine.drivers[driver];
      if (slot.lanes[lane].try_lock()) {
        visit(slot, lane);
        slot.lanes[lane].unlock();
      } else {
        all = false;
      }
      return true;
    });
    return all;
  }

  void sleep_armed(uint32_t timeout_us) noexcept {
    is_armed_.store(true, std::memory_order_relaxed);
    sleep(all_fds_, timeout_us);
    is_armed_.store(false, std::memory_order_relaxed);
  }

  /// Until one of the fds is readable: true; or the time is over.
  bool sleep(int epoll_fd, uint32_t timeout_us) noexcept {
    if (is_stopping()) return true;
    epoll_event event;
    const int ready = wait_for_event(epoll_fd, timeout_us, event);
    ++counters_.sleeps;
    counters_.wakes += ready > 0;
    // A ring that is not taken back ends the next sleep, too.
    if (ready > 0 && event.data.fd == dispatcher_bell.fd) drain_event_fd(dispatcher_bell.fd);
    return ready != 0;
  }

  /// Linux before 5.11, and valgrind, count in milliseconds.
  int wait_for_event(int epoll_fd, uint32_t timeout_us, epoll_event& event) noexcept {
    if (!counts_in_ms_) {
      const timespec limit = timespec_of_us(timeout_us);
      const int ready = epoll_pwait2(epoll_fd, &event, 1, &limit, nullptr);
      if (ready >= 0 || errno != ENOSYS) return ready;
      counts_in_ms_ = true;
    }
    return epoll_wait(epoll_fd, &event, 1, static_cast<int>((timeout_us + 999) / 1000));
  }

  static inline constinit thread_local bool is_self_ = false;

  DispatchMode mode_ = DispatchMode::kPoll;
  uint32_t watchdog_us_ = 0;
  int all_fds_ = -1;  // the lanes' and the bell
  int own_fd_ = -1;   // the bell alone
  uint64_t polls_seen_ = 0;
  uint32_t grace_us_ = kGraceMinUs;
  bool has_waited_ = false;    // for the watchdog's time, and nobody polled
  bool asks_another_ = false;  // the thread asked last has done nothing
  bool all_block_ = false;     // the signal: all of the client's threads, when it was last asked
  bool counts_in_ms_ = false;
  int64_t looks_at_ns_ = 0;
  DispatcherCounters counters_;
  std::atomic<bool> is_armed_{false};  // it sleeps over the lanes
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> is_running_{false};
};
constinit Dispatcher dispatcher;

}  // namespace

Status start_dispatcher(DispatchMode mode, uint32_t watchdog_us,
                        const std::vector<uint32_t>& cpus) {
  if (mode != DispatchMode::kNicproc) {
    call_off_dispatcher = []() noexcept { dispatcher.call_off(); };
  }
  return dispatcher.start(mode, watchdog_us, cpus);
}
void stop_dispatcher() noexcept {
  if (has_dispatcher) dispatcher.stop();
}
void report_dispatch(StatSink& sink) noexcept {
  if (!has_dispatcher) return;
  dispatcher.report(sink);
  sink.stat("signals_handled", interrupt_counters.signals_handled);
  sink.stat("handed_over", interrupt_counters.handed_over);
  sink.stat("found_in_signals", interrupt_counters.found_in_signals);
  sink.stat("found_after_sections", interrupt_counters.found_after_sections);
  sink.stat("found_after_calls", interrupt_counters.found_after_calls);
}
}  // namespace pinwire

#include "core/engine/engine.h"

#include <pthread.h>
#include <time.h>

#include <cerrno>

#include "core/base/log.h"
#include "core/base/no_cancel.h"
#include "core/base/threads/membarrier.h"
#include "core/interrupts/client_threads.h"

namespace pinwire {
namespace {

void on_thread_end(void*) {
  if (has_dispatcher) forget_client_thread();
  engine.threads_live.fetch_sub(1, std::memory_order_relaxed);
  engine.set_spins();
}

/// Counts this thread until it ends. GASNET_MAX_THREADS
void count_thread() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    check(pthread_key_create(&made, on_thread_end) == 0, "no thread-specific key is left");
    return made;
  }();
  const uint32_t live = engine.threads_live.fetch_add(1, std::memory_order_relaxed) + 1;
  if (engine.threads_max != 0 && live > engine.threads_max) {
    fatal("more than %u threads that called GASNet live at once; raise GASNET_MAX_THREADS",
          engine.threads_max);
  }
  pthread_setspecific(key, &engine);  // anything but nullptr: it has on_thread_end called
  engine.set_spins();
}

bool may_own_lanes() noexcept {
  static const bool may = register_thread_barriers();
  return may;
}

/// A peer that dies breaks its connections before the launcher hears of its end; and who that was,
/// and of what, says more than that it is gone. The launcher may therefore end this rank first.
void wait_for_the_cause() noexcept {
  const NoCancel whole;
  timespec left{.tv_sec = 0, .tv_nsec = 500'000'000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace

void Engine::adopt(ThreadState& state) noexcept {
  const NoCancel whole;
  check(lane_count != 0, "no lane for a thread");
  dcheck(state.lane == ThreadState::kUnassigned, "a thread is given lanes twice", state.lane);
  count_thread();
  // The first threads have a lane each, which nobody else sends on; the others share the last.
  uint32_t number = threads.load(std::memory_order_relaxed);
  while (number < lane_count &&
         !threads.compare_exchange_weak(number, number + 1, std::memory_order_relaxed)) {
  }
  if (number != 0 || has_dispatcher) has_other_callers.store(true, std::memory_order_relaxed);
  check(number <= lane_count, "more threads are counted than have lanes", number, lane_count);
  state.lane = std::min(number, lane_count - 1);
  state.turn = state.lane;
  own_lanes(state);
  if (has_dispatcher) register_client_thread();  // last: it may be interrupted at once
}

void Engine::own_lanes(const ThreadState& state) noexcept {
  check(state.lane < lane_count, "lanes for a thread that has none", state.lane, lane_count);
  if (!kConcurrent || has_dispatcher || !may_own_lanes()) return;
  for (uint32_t d = 0; d < driver_count; ++d) {
    if (state.lane + 1 >= drivers[d].lane_count) continue;
    std::atomic<const ThreadState*>& owner = drivers[d].lanes[state.lane].owner;
    if constexpr (kChecks) {
      const ThreadState* before = owner.load(std::memory_order_relaxed);
      dcheck(before == nullptr || before == &state, "a lane of another thread is taken",
             state.lane);
    }
    owner.store(&state, std::memory_order_relaxed);
  }
}

void driver_failed(const Driver& driver, WorkStatus status) noexcept {
  static constexpr const char* kWords[] = {"succeeded", "was refused by the target",
                                           "got no answer", "named memory that is not pinned",
                                           "was flushed"};
  wait_for_the_cause();
  if (const Failure* failure = driver.failure()) {
    fatal("driver %s: %s", driver.name(), failure->sentence);
  }
  fatal("driver %s: an operation %s", driver.name(), kWords[static_cast<int>(status)]);
}

}  // namespace pinwire

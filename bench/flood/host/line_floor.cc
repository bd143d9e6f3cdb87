#include "bench/flood/host/line_floor.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <thread>

#include "bench/flood/numbers/histogram.h"
#include "bench/flood/numbers/stopwatch.h"
#include "core/base/bits.h"

namespace pinwire::flood {
namespace {

enum class Partner : uint32_t { kStarting, kReady, kRefused };

/// Two words on lines of their own, and far enough apart that no prefetcher pairs them.
struct Lines {
  alignas(2 * kCacheLineBytes) std::atomic<uint32_t> there{0};
  alignas(2 * kCacheLineBytes) std::atomic<uint32_t> back{0};
  alignas(2 * kCacheLineBytes) std::atomic<Partner> partner{Partner::kStarting};
};

bool pin_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set) == 0;
}

int other_cpu(const cpu_set_t& allowed, int not_this) {
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (cpu != not_this && CPU_ISSET(static_cast<size_t>(cpu), &allowed)) return cpu;
  }
  return -1;
}

void answer(Lines& lines, int cpu, uint32_t rounds) {
  const bool pinned = pin_thread(cpu);
  lines.partner.store(pinned ? Partner::kReady : Partner::kRefused, std::memory_order_release);
  for (uint32_t i = 1; pinned && i <= rounds; ++i) {
    while (lines.there.load(std::memory_order_acquire) != i) {  // pairs with ask()'s release
    }
    lines.back.store(i, std::memory_order_release);  // pairs with ask()'s acquire
  }
}

void ask(Lines& lines, uint32_t rounds, Histogram& cycles_each) {
  for (uint32_t i = 1; i <= rounds; ++i) {
    const uint64_t begin = cycles();
    lines.there.store(i, std::memory_order_release);
    while (lines.back.load(std::memory_order_acquire) != i) {
    }
    cycles_each.record(cycles() - begin);
  }
}

bool ask_on(int first_cpu, int second_cpu, uint32_t rounds, Histogram& cycles_each) {
  if (!pin_thread(first_cpu)) return false;
  auto lines = std::make_unique<Lines>();
  std::thread other(answer, std::ref(*lines), second_cpu, rounds);
  // Pairs with answer()'s release. The partner may need this CPU to start on.
  while (lines->partner.load(std::memory_order_acquire) == Partner::kStarting) {
    std::this_thread::yield();
  }
  const bool ready = lines->partner.load(std::memory_order_relaxed) == Partner::kReady;
  if (ready) ask(*lines, rounds, cycles_each);
  other.join();
  return ready;
}

}  // namespace

Result<LineRoundTrip> measure_line(int first_cpu, int second_cpu, uint32_t rounds) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::pthread_getaffinity_np(::pthread_self(), sizeof allowed, &allowed) != 0) {
    return error("cannot read the CPU set of this thread");
  }
  if (first_cpu < 0) first_cpu = ::sched_getcpu();
  if (second_cpu < 0 || second_cpu == first_cpu) second_cpu = other_cpu(allowed, first_cpu);
  if (second_cpu < 0) {
    return error("only one CPU is allowed to this process; the line round trip needs two");
  }
  const CycleClock clock = calibrate();
  Histogram cycles_each;
  const bool measured = ask_on(first_cpu, second_cpu, rounds, cycles_each);
  ::pthread_setaffinity_np(::pthread_self(), sizeof allowed, &allowed);
  if (!measured) {
    return error("cannot pin a thread to CPU %d or %d; allow both (taskset, cgroup cpuset)",
                 first_cpu, second_cpu);
  }
  const auto ns = [&](double fraction) {
    return cycles_each.percentile(fraction) * clock.ns_per_cycle - clock.stamp_ns;
  };
  return LineRoundTrip{ns(0), ns(0.5), ns(0.99), first_cpu, second_cpu};
}

}  // namespace pinwire::flood

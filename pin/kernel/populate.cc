#include "pin/kernel/populate.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/memory/page.h"

namespace pinwire {
namespace {

constexpr uint64_t kChunkBytes = 64u << 20;
constexpr double kSecondsBetweenReports = 5;

/// The chunks of one segment, taken by whichever thread is free.
class Chunks {
 public:
  Chunks(std::byte* base, uint64_t bytes) noexcept
      : base_(base), bytes_(bytes), reported_s_(monotonic_s()) {}

  void work(bool reports) noexcept {
    for (;;) {
      const uint64_t at = next_.fetch_add(kChunkBytes, std::memory_order_relaxed);
      if (at >= bytes_ || reason_.load(std::memory_order_relaxed) != 0) return;
      const uint64_t count = std::min(kChunkBytes, bytes_ - at);
      if (madvise(base_ + at, count, MADV_POPULATE_WRITE) != 0) {
        reason_.store(errno, std::memory_order_relaxed);
        return;
      }
      if (reports) report(at + count);
    }
  }
  int reason() const noexcept { return reason_.load(std::memory_order_relaxed); }

 private:
  void report(uint64_t done) noexcept {
    const double now = monotonic_s();
    if (now - reported_s_ < kSecondsBetweenReports) return;
    reported_s_ = now;
    log_note("making the segment's pages: %.1f of %.1f GiB", static_cast<double>(done) / (1u << 30),
             static_cast<double>(bytes_) / (1u << 30));
  }

  std::byte* const base_;
  const uint64_t bytes_;
  double reported_s_;
  std::atomic<uint64_t> next_{0};
  std::atomic<int> reason_{0};
};

void* help(void* chunks) noexcept {
  static_cast<Chunks*>(chunks)->work(false);
  return nullptr;
}

}  // namespace

Status populate(std::byte* base, uint64_t bytes, uint32_t threads) {
  // madvise() would refuse, which is taken for a kernel that knows no such advice.
  check(reinterpret_cast<uintptr_t>(base) % kPageBytes == 0, "a segment is of whole pages", base);
  Chunks chunks(base, bytes);
  const uint64_t count_max = bytes / kChunkBytes;
  std::vector<pthread_t> helpers;
  for (uint64_t i = 1; i < std::min<uint64_t>(threads, count_max); ++i) {
    pthread_t helper{};
    if (pthread_create(&helper, nullptr, help, &chunks) != 0) break;  // fewer will do
    helpers.push_back(helper);
  }
  chunks.work(true);
  for (const pthread_t helper : helpers) pthread_join(helper, nullptr);
  // Kernels before 5.14 have no such advice: pages then appear while they are pinned.
  if (chunks.reason() == 0 || chunks.reason() == EINVAL) return success();
  return error(
      "the segment's %llu bytes cannot be made present: %s. Ask for less, or lower "
      "GASNET_MAX_SEGSIZE",
      static_cast<unsigned long long>(bytes), std::strerror(chunks.reason()));
}

}  // namespace pinwire

// Pins that outlive their transfer, on this kernel: memory that was unmapped, moved or discarded is
// never taken for what was there before. Pins hold real pages (held_pages.h), so that a stale one
// shows.
#include "pin/kept.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "core/base/random.h"
#include "pin/buckets.h"
#include "tests/unit/pin/held_pages.h"

namespace pinwire {
namespace {

constexpr uint64_t kPageBytes = test::HeldPages::kPageBytes;
constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;
/// ThreadSanitizer does not see mremap(2): what another thread wrote where the memory is now, and
/// has unmapped since, is a data race to it.
#ifdef __SANITIZE_THREAD__
constexpr bool kThreadsMayMove = false;
#else
constexpr bool kThreadsMayMove = true;
#endif

using Bytes = std::byte*;

Bytes map(uint64_t pages, int flags = kPrivate, void* at = nullptr, int fd = -1) {
  void* base = mmap(at, pages * kPageBytes, kReadWrite, flags, fd, 0);
  check(base != MAP_FAILED, "no memory", errno);
  return static_cast<Bytes>(base);
}
void unmap(Bytes base, uint64_t pages) { munmap(base, pages * kPageBytes); }

/// Memory where other was, or elsewhere if another thread (a sanitizer's, too) was faster.
Bytes map_again(uint64_t pages, Bytes base) {
  void* again = mmap(base, pages * kPageBytes, kReadWrite, kPrivate | MAP_FIXED_NOREPLACE, -1, 0);
  return again == MAP_FAILED ? map(pages) : static_cast<Bytes>(again);
}

/// Different in each page of each generation.
void stamp(Bytes base, uint64_t pages, uint64_t generation) {
  for (uint64_t page = 0; page < pages; ++page) {
    const uint64_t word = generation << 8 | page;
    std::memcpy(base + page * kPageBytes, &word, sizeof word);
  }
}

class KeptPins : public testing::Test {
 protected:
  static constexpr uint64_t kBudgetPages = 64;

  KeptPins() {
    const Status opened = watch_.open(Kept::kEntriesMax);
    is_watching_ = opened.ok();
    if (!is_watching_) why_not_ = opened.sentence();
    buckets_.open(driver_, {16, 0, 0, 0, kBudgetPages * kPageBytes}, 1, 0, 0);
    if (is_watching_) buckets_.keep(watch_);
  }
  void SetUp() override {
    if (!is_watching_) GTEST_SKIP() << why_not_;
  }

  /// Transfers whole pages: does a device see what the memory holds?
  bool transfers(Bytes base, uint64_t pages, uint64_t generation) {
    const auto pinned = buckets_.pin_alone(base, pages * kPageBytes);
    if (pinned.region.bytes == 0) return false;
    const std::vector<uint64_t> seen = driver_.read(pinned.region);
    const uint64_t first = (reinterpret_cast<uint64_t>(base) - pinned.region.base) / kPageBytes;
    bool is_right = seen.size() >= first + pages;
    for (uint64_t page = 0; is_right && page < pages; ++page) {
      is_right = seen[first + page] == (generation << 8 | page);
    }
    buckets_.unpin_alone(pinned);
    return is_right;
  }
  /// Renews the memory by `renew` between transfers, in several ways of meeting it.
  template <typename Renew>
  void renews(Renew&& renew, uint64_t pages = 4) {
    Bytes base = map(pages);
    for (uint64_t generation = 1; generation <= 20; ++generation) {
      stamp(base, pages, generation);
      EXPECT_TRUE(transfers(base, pages, generation)) << generation;
      EXPECT_TRUE(transfers(base, pages, generation)) << generation;
      base = renew(base, pages);
    }
    unmap(base, pages);
    // A transfer pins for itself if the reader is off its core for long.
    EXPECT_LE(counters().kept_hits, 20u);
    EXPECT_GE(counters().kept_hits + counters().unsettled, 20u);
    EXPECT_GT(counters().kept_hits, 0u);
    EXPECT_EQ(counters().kept_hits + counters().kept_misses + counters().unsettled, 40u);
  }
  PinCounters counters() const { return buckets_.counters(); }

  test::HeldPages driver_;
  Watch watch_;
  Buckets buckets_;
  bool is_watching_ = false;
  std::string why_not_;
};

TEST_F(KeptPins, ARepeatedTransferPinsOnce) {
  Bytes base = map(8);
  stamp(base, 8, 1);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(transfers(base, 8, 1));
  stamp(base, 8, 2);
  EXPECT_TRUE(transfers(base, 8, 2)) << "it is the same memory";
  EXPECT_EQ(counters().pins, 1u);
  EXPECT_EQ(counters().kept_hits, 10u);
  EXPECT_EQ(counters().kept_bytes, 8 * kPageBytes);
  const auto inside = buckets_.pin_alone(base + kPageBytes + 100, 2 * kPageBytes);
  EXPECT_EQ(inside.region.base, reinterpret_cast<uint64_t>(base)) << "any part of it";
  buckets_.unpin_alone(inside);
  EXPECT_EQ(counters().pins, 1u);
  unmap(base, 8);
}

TEST_F(KeptPins, MemoryThatTwoTransfersUseStaysPinnedUntilBothAreDone) {
  constexpr uint64_t kPages = 8;
  const Bytes all = map(2 * kBudgetPages);
  const auto pin = [&](uint64_t index) {
    return buckets_.pin_alone(all + 2 * index * kPages * kPageBytes, kPages * kPageBytes);
  };
  const auto first = pin(0), second = pin(0);
  if (second.kept == Kept::kNone || second.kept != first.kept)
    GTEST_SKIP() << "the thread that reads events is off its core";
  std::vector<Buckets::Alone> others;
  for (uint64_t i = 1; i < kBudgetPages / kPages; ++i) others.push_back(pin(i));
  buckets_.unpin_alone(first);
  const uint64_t last = kBudgetPages / kPages - 1;
  EXPECT_EQ(buckets_.pin_alone(all + (2 * last + 1) * kPages * kPageBytes, kPageBytes).region.bytes,
            0u)
      << "all of the budget is in use, a part of it by the second transfer";
  buckets_.unpin_alone(second);
  const auto granted =
      buckets_.pin_alone(all + (2 * last + 1) * kPages * kPageBytes, kPages * kPageBytes);
  EXPECT_EQ(granted.region.bytes, kPages * kPageBytes);
  others.push_back(granted);
  for (const auto& other : others) {
    if (other.region.bytes != 0) buckets_.unpin_alone(other);
  }
  unmap(all, 2 * kBudgetPages);
}

TEST_F(KeptPins, AnotherUserOfTheWatchIsLeftAlone) {
  Watch watch;
  ASSERT_TRUE(watch.open(2 + Kept::kEntriesMax).ok());
  const uint32_t others = watch.take_slots(2);
  Buckets buckets;
  buckets.open(driver_, {16, 0, 0, 0, kBudgetPages * kPageBytes}, 1, 0, 0);
  buckets.keep(watch);
  const Bytes of_other = map(2), base = map(6);
  for (uint32_t i = 0; i < 2; ++i) {
    const uint64_t from = reinterpret_cast<uint64_t>(of_other) + i * kPageBytes;
    ASSERT_TRUE(watch.watch(others + i, from, from + kPageBytes));
  }
  std::vector<Buckets::Alone> pinned;
  for (uint64_t i = 0; i < 3; ++i) {
    pinned.push_back(buckets.pin_alone(base + 2 * i * kPageBytes, kPageBytes));
    EXPECT_NE(pinned.back().region.bytes, 0u);
  }
  unmap(base, 6);
  while (!watch.settle()) ASSERT_FALSE(watch.is_broken());
  EXPECT_FALSE(watch.is_stale(others) || watch.is_stale(others + 1));
  unmap(of_other, 2);
  while (!watch.settle()) ASSERT_FALSE(watch.is_broken());
  EXPECT_TRUE(watch.is_stale(others) && watch.is_stale(others + 1));
  for (const auto& one : pinned) buckets.unpin_alone(one);
  EXPECT_EQ(buckets.counters().kept_stale + buckets.counters().unsettled, 3u);
}

TEST_F(KeptPins, UnmappedAndMappedAnew) {
  renews([](Bytes base, uint64_t pages) {
    unmap(base, pages);
    return map_again(pages, base);
  });
}

TEST_F(KeptPins, MappedOver) {
  renews([](Bytes base, uint64_t pages) { return map(pages, kPrivate | MAP_FIXED, base); });
}

TEST_F(KeptPins, Discarded) {
  renews([](Bytes base, uint64_t pages) {
    madvise(base, pages * kPageBytes, MADV_DONTNEED);
    return base;
  });
}

TEST_F(KeptPins, MovedAwayAndAnotherMappedThere) {
  Bytes elsewhere = nullptr;
  renews([&](Bytes base, uint64_t pages) {
    const uint64_t bytes = pages * kPageBytes;
    if (elsewhere != nullptr) munmap(elsewhere, bytes);
    elsewhere = map(pages);
    EXPECT_EQ(mremap(base, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere), elsewhere);
    return map_again(pages, base);
  });
}

TEST_F(KeptPins, MovedAwayFromAMappingThatStays) {
  renews([&](Bytes base, uint64_t pages) {
    const uint64_t bytes = pages * kPageBytes;
    void* moved = mremap(base, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
    EXPECT_NE(moved, MAP_FAILED);
    munmap(moved, bytes);
    return base;
  });
}

TEST_F(KeptPins, AnotherMovedOver) {
  renews([](Bytes base, uint64_t pages) {
    const uint64_t bytes = pages * kPageBytes;
    Bytes other = map(pages);
    EXPECT_EQ(mremap(other, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, base), base);
    return base;
  });
}

TEST_F(KeptPins, ShrunkAndGrown) {
  renews([](Bytes base, uint64_t pages) {
    const uint64_t bytes = pages * kPageBytes;
    EXPECT_EQ(mremap(base, bytes, kPageBytes, 0), base);
    const Bytes rest = map_again(pages - 1, base + kPageBytes);
    if (rest == base + kPageBytes) return base;
    unmap(base, 1);
    unmap(rest, pages - 1);
    return map(pages);
  });
}

TEST_F(KeptPins, MovedMemoryIsWatchedWhereItIsNow) {
  Bytes base = map(4);
  stamp(base, 4, 1);
  EXPECT_TRUE(transfers(base, 4, 1));
  void* moved = mremap(base, 4 * kPageBytes, 64 * kPageBytes, MREMAP_MAYMOVE);
  ASSERT_NE(moved, MAP_FAILED);
  const auto now = static_cast<Bytes>(moved);
  EXPECT_TRUE(transfers(now, 4, 1));
  unmap(now, 64);
  const Bytes again = map_again(64, now);
  stamp(again, 4, 2);
  EXPECT_TRUE(transfers(again, 4, 2));
  unmap(again, 64);
}

TEST_F(KeptPins, TheBreakShrunkAndGrown) {
  const auto page = [](void* at) {
    return reinterpret_cast<Bytes>((reinterpret_cast<uint64_t>(at) + kPageBytes - 1) &
                                   ~(kPageBytes - 1));
  };
  for (uint64_t generation = 1; generation <= 5; ++generation) {
    void* before = sbrk(8 * kPageBytes);
    if (before == reinterpret_cast<void*>(-1)) GTEST_SKIP() << "the break does not move";
    const Bytes base = page(before);
    stamp(base, 4, generation);
    EXPECT_TRUE(transfers(base, 4, generation));
    EXPECT_TRUE(transfers(base, 4, generation));
    if (sbrk(0) != static_cast<Bytes>(before) + 8 * kPageBytes) GTEST_SKIP() << "malloc moved it";
    EXPECT_EQ(brk(before), 0);
  }
}

TEST_F(KeptPins, UnmappedByAnotherThreadThatStillSleepsWhenTheAddressIsUsedAnew) {
  Bytes base = map(4);
  for (uint64_t generation = 1; generation <= 100; ++generation) {
    stamp(base, 4, generation);
    EXPECT_TRUE(transfers(base, 4, generation));
    std::thread unmapper([old = base] { unmap(old, 4); });
    // It is gone as soon as another can be there: the event may not be read yet.
    void* again = MAP_FAILED;
    for (int tries = 0; again == MAP_FAILED && tries < 1'000'000; ++tries) {
      again = mmap(base, 4 * kPageBytes, kReadWrite, kPrivate | MAP_FIXED_NOREPLACE, -1, 0);
    }
    base = again == MAP_FAILED ? map(4) : static_cast<Bytes>(again);
    stamp(base, 4, generation + 1000);
    EXPECT_TRUE(transfers(base, 4, generation + 1000)) << generation;
    unmapper.join();
  }
  unmap(base, 4);
}

TEST_F(KeptPins, WhatCannotBeWatchedIsPinnedForEachTransfer) {
  const int file = memfd_create("kept_test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 4 * kPageBytes), 0);
  const Bytes of_file = map(4, MAP_SHARED, nullptr, file);
  const Bytes shared = map(4, MAP_SHARED | MAP_ANONYMOUS);
  for (const Bytes base : {of_file, shared}) {
    stamp(base, 4, 1);
    EXPECT_TRUE(transfers(base, 4, 1));
    EXPECT_EQ(driver_.pins(), 0u);
  }
  // Shared memory is not kept for this reason: nothing tells of it.
  ASSERT_EQ(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4 * kPageBytes), 0);
  stamp(of_file, 4, 2);
  EXPECT_TRUE(transfers(of_file, 4, 2));
  EXPECT_EQ(counters().unwatchable, 3u);
  EXPECT_EQ(counters().kept_hits, 0u);
  unmap(of_file, 4);
  unmap(shared, 4);
  close(file);
}

/// The last entry is looked at as all others are, and nothing after it.
TEST_F(KeptPins, AllEntriesMayBeUsedAndTheLastUnmapped) {
  Watch watch;
  ASSERT_TRUE(watch.open(Kept::kEntriesMax).ok());
  Kept kept;
  kept.open(watch);
  const Bytes base = map(2 * Kept::kEntriesMax);
  const auto from = reinterpret_cast<uint64_t>(base);
  uint64_t of_last = 0;
  for (uint64_t at = from; kept.has_room(); at += 2 * kPageBytes) {
    const uint32_t last = kept.begin(at, at + kPageBytes);
    ASSERT_NE(last, Kept::kNone);
    Region region{};
    region.base = at;
    region.bytes = kPageBytes;
    kept.add(last, region);
    of_last = kept.region(last).base;
    kept.done(last);
  }
  EXPECT_EQ(of_last, from + 2 * (Kept::kEntriesMax - 1) * kPageBytes);
  unmap(reinterpret_cast<Bytes>(of_last), 1);
  while (!kept.settle()) ASSERT_FALSE(watch.is_broken());
  Region stale{};
  EXPECT_TRUE(kept.take_stale(stale));
  EXPECT_EQ(stale.base, of_last);
  EXPECT_FALSE(kept.take_stale(stale));
  EXPECT_TRUE(kept.has_room());
  unmap(base, 2 * Kept::kEntriesMax);
}

TEST_F(KeptPins, MemoryThatMayOnlyBeReadIsRefusedAndOthersAreKept) {
  const Bytes good = map(4), bad = map(4);
  stamp(good, 4, 1);
  EXPECT_TRUE(transfers(good, 4, 1));
  mprotect(bad, 4 * kPageBytes, PROT_READ);
  EXPECT_EQ(buckets_.pin_alone(bad, 4 * kPageBytes).region.bytes, 0u);
  EXPECT_TRUE(transfers(good, 4, 1));
  EXPECT_EQ(counters().kept_hits, 1u);
  unmap(good, 4);
  unmap(bad, 4);
}

TEST_F(KeptPins, TheLongestIdleGoWhenTheBudgetIsUsedUp) {
  constexpr uint64_t kPages = 16, kCount = 5;  // of which four fit
  Bytes base[kCount];
  for (uint64_t i = 0; i < kCount; ++i) {
    base[i] = map(kPages);
    stamp(base[i], kPages, i);
    EXPECT_TRUE(transfers(base[i], kPages, i));
    EXPECT_TRUE(transfers(base[0], kPages, 0)) << "used most recently";
  }
  EXPECT_EQ(counters().kept_evictions, 1u);
  EXPECT_EQ(counters().pins, kCount);
  EXPECT_LE(counters().bytes_max, kBudgetPages * kPageBytes);
  EXPECT_TRUE(transfers(base[1], kPages, 1)) << "evicted, and pinned again";
  EXPECT_EQ(counters().pins, kCount + 1);
  for (const Bytes at : base) unmap(at, kPages);
}

TEST_F(KeptPins, WhatIsInUseIsNotEvictedAndWhoeverFindsNoRoomIsRefused) {
  const Bytes base = map(64);
  std::vector<Buckets::Alone> pinned;
  for (uint64_t i = 0; i < 4; ++i) {
    pinned.push_back(buckets_.pin_alone(base + i * 16 * kPageBytes, 16 * kPageBytes));
    EXPECT_NE(pinned.back().region.bytes, 0u);
  }
  const Bytes more = map(1);
  EXPECT_EQ(buckets_.pin_alone(more, kPageBytes).region.bytes, 0u);
  buckets_.unpin_alone(pinned[2]);
  const auto now = buckets_.pin_alone(more, kPageBytes);
  EXPECT_NE(now.region.bytes, 0u);
  for (const auto& one : {pinned[0], pinned[1], pinned[3], now}) buckets_.unpin_alone(one);
  unmap(base, 64);
  unmap(more, 1);
}

TEST_F(KeptPins, ADeviceThatHasNoMoreGetsBackWhatIsIdle) {
  const Bytes base = map(8);
  stamp(base, 8, 1);
  EXPECT_TRUE(transfers(base, 2, 1));
  driver_.refusals = 1;
  stamp(base + 4 * kPageBytes, 2, 3);
  EXPECT_TRUE(transfers(base + 4 * kPageBytes, 2, 3));
  EXPECT_EQ(counters().kept_evictions, 1u);
  unmap(base, 8);
}

TEST_F(KeptPins, AWiderTransferTakesThePlaceOfThoseWithin) {
  const Bytes base = map(8);
  stamp(base, 8, 1);
  EXPECT_TRUE(transfers(base, 2, 1));
  EXPECT_TRUE(transfers(base, 8, 1));
  EXPECT_EQ(driver_.pins(), 1u);
  EXPECT_EQ(counters().kept_bytes, 8 * kPageBytes);
  unmap(base, 8);
}

TEST_F(KeptPins, MemoryThatIsUnmappedDuringItsTransferIsUnpinnedAtItsEnd) {
  const Bytes base = map(4);
  const auto pinned = buckets_.pin_alone(base, 4 * kPageBytes);
  unmap(base, 4);
  EXPECT_EQ(driver_.pins(), 1u);
  while (!watch_.settle()) ASSERT_FALSE(watch_.is_broken());
  buckets_.unpin_alone(pinned);
  EXPECT_EQ(driver_.pins(), 0u);
  EXPECT_EQ(counters().kept_stale, 1u);
}

/// A peer's word that its transfer is over may come late.
TEST_F(KeptPins, WhatWasUnmappedIsNotUsedAgainThoughATransferHasIt) {
  const Bytes base = map(4);
  const auto pinned = buckets_.pin_alone(base, 4 * kPageBytes);
  map(4, kPrivate | MAP_FIXED, base);
  stamp(base, 4, 2);
  EXPECT_TRUE(transfers(base, 4, 2));
  EXPECT_TRUE(transfers(base, 4, 2));
  buckets_.unpin_alone(pinned);
  EXPECT_TRUE(transfers(base, 4, 2));
  EXPECT_EQ(driver_.pins(), 1u);
  unmap(base, 4);
}

TEST_F(KeptPins, TheNextTransferUnpinsWhatWasUnmapped) {
  const Bytes base = map(4), other = map(4);
  stamp(base, 4, 1);
  stamp(other, 4, 2);
  EXPECT_TRUE(transfers(base, 4, 1));
  unmap(base, 4);
  while (!watch_.settle()) ASSERT_FALSE(watch_.is_broken());
  EXPECT_TRUE(transfers(other, 4, 2));
  EXPECT_EQ(counters().kept_stale, 1u);
  EXPECT_EQ(driver_.pins(), 1u);
  unmap(other, 4);
}

/// The work of a child with memory that it inherited is not the parent's business, nor does
/// anything that it unmaps wait for a reader.
TEST_F(KeptPins, AForkedChildUnmapsAndExits) {
  const Bytes base = map(4);
  stamp(base, 4, 1);
  EXPECT_TRUE(transfers(base, 4, 1));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    stamp(base, 4, 7);
    madvise(base, kPageBytes, MADV_DONTNEED);
    unmap(base, 4);
    map(4, kPrivate | MAP_FIXED, base);
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(transfers(base, 4, 1));
  stamp(base, 4, 2);
  unmap(base, 4);
}

/// All at once: each thread maps memory wherever the kernel likes, which is where another has just
/// unmapped some, and renews it in every way, while the others do. Its transfers alone are looked
/// at, with what it has just written. KEPT_TURNS: fewer where the processor is emulated.
TEST_F(KeptPins, ThreadsRemapAtTheSameAddresses) {
  constexpr uint32_t kThreads = 4;
  const char* asked = std::getenv("KEPT_TURNS");
  const uint32_t turns = asked == nullptr ? 500 : static_cast<uint32_t>(std::atoi(asked));
  std::atomic<uint32_t> stale{0};
  std::atomic<uint64_t> generations{1};
  const auto use = [&](uint64_t seed) {
    Random random(seed);
    for (uint32_t turn = 0; turn < turns; ++turn) {
      const uint64_t pages = 1 + random.below(4);
      Bytes base = map(pages);
      for (uint64_t more = random.below(3) + 1; more != 0; --more) {
        const uint64_t generation = generations.fetch_add(1);
        stamp(base, pages, generation);
        for (int i = 0; i < 2; ++i) {
          if (!transfers(base, pages, generation)) stale.fetch_add(1);
        }
        if (random.below(2) == 0) madvise(base, pages * kPageBytes, MADV_DONTNEED);
        if (random.below(4) == 0) map(pages, kPrivate | MAP_FIXED, base);
        if (random.below(4) == 0 && kThreadsMayMove) {
          void* moved = mremap(base, pages * kPageBytes, (pages + 4) * kPageBytes, MREMAP_MAYMOVE);
          check(moved != MAP_FAILED, "mremap", errno);
          base = static_cast<Bytes>(moved);
          unmap(base + pages * kPageBytes, 4);
        }
      }
      unmap(base, pages);
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(use, i + 1);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stale.load(), 0u);
  EXPECT_GT(counters().kept_hits, turns) << "else it shows nothing";
  EXPECT_GT(counters().kept_stale, turns);
  std::printf("%llu hits, %llu misses, %llu stale, %llu unsettled\n",
              static_cast<unsigned long long>(counters().kept_hits),
              static_cast<unsigned long long>(counters().kept_misses),
              static_cast<unsigned long long>(counters().kept_stale),
              static_cast<unsigned long long>(counters().unsettled));
}

}  // namespace
}  // namespace pinwire

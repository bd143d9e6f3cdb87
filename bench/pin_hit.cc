// Measures the cost of a hit in the cache of peers' pinned buckets: take() and put_back() of
// buckets in random order, out of a cache that is full; and among pins that are kept between
// transfers of 256 KiB and more: pin_alone() and unpin_alone(), most of which is asking the kernel
// whether something is being unmapped. Nanoseconds per hit, the best and the median of some rounds.
//
//   pin_hit [buckets]
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "pin/buckets.h"
#include "pin/remote_cache.h"
#include "tests/support/idle_driver.h"

namespace {

/// Pins nothing.
class NoDevice : public pinwire::test::IdleDriver {
 public:
  pinwire::Result<pinwire::Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    return pinwire::Region{reinterpret_cast<uint64_t>(base), bytes, 1, 1};
  }
};

void say(const char* what, uint32_t count, std::vector<double>& rounds) {
  std::sort(rounds.begin(), rounds.end());
  std::printf("a hit among %u %s: best %.1f ns, median %.1f ns\n", count, what, rounds.front(),
              rounds[rounds.size() / 2]);
}

int measure_kept(uint32_t count) {
  using namespace pinwire;
  constexpr uint64_t kBytes = 256 << 10;
  constexpr uint32_t kHits = 1 << 12;
  NoDevice device;
  Watch watch;
  if (const Status opened = watch.open(Kept::kEntriesMax); !opened) {
    std::printf("nothing is kept here: %s\n", opened.sentence().c_str());
    return 0;
  }
  Buckets buckets;
  buckets.open(device, {16, 0, 0, 0, count * kBytes}, 1, 0, 0);
  buckets.keep(watch);
  void* base = mmap(nullptr, count * kBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return 1;
  const auto hit = [&](uint64_t number) {
    buckets.unpin_alone(buckets.pin_alone(static_cast<char*>(base) + number * kBytes, kBytes));
  };
  for (uint32_t i = 0; i < count; ++i) hit(i);
  Random random(1);
  std::vector<double> rounds;
  for (int round = 0; round < 100; ++round) {
    const uint64_t start = pinwire::monotonic_ns();
    for (uint32_t i = 0; i < kHits; ++i) hit(random.below(count));
    rounds.push_back(static_cast<double>(pinwire::monotonic_ns() - start) / kHits);
  }
  say("kept pins", count, rounds);
  return buckets.counters().pins == count ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pinwire;
  const int asked = argc > 1 ? std::atoi(argv[1]) : 1024;
  if (asked < 1 || asked > 1 << 24) {
    std::fprintf(stderr, "usage: %s [BUCKETS]\n", argv[0]);
    return 2;
  }
  const auto buckets = static_cast<uint32_t>(asked);
  RemoteCache cache;
  const RemoteCache::Grant grants[] = {{}, {16, buckets}};
  cache.open(grants);
  for (uint32_t number = 0; number < buckets; ++number) {
    const auto want = cache.ask(1, number);
    RemoteCache::Told told;
    told.to = 1;
    told.owners_index = number;
    if (!cache.grant(1, want.index, told)) return 1;
    cache.put_back(want.index);
  }
  constexpr uint32_t kHits = 1 << 16;
  std::vector<uint64_t> order(kHits);
  Random random(1);
  for (uint64_t& number : order) number = random.below(buckets);
  std::vector<double> rounds;
  uint64_t keys = 0;
  for (int round = 0; round < 100; ++round) {
    const uint64_t start = pinwire::monotonic_ns();
    for (const uint64_t number : order) {
      const uint32_t index = cache.take(1, number);
      keys += cache.at(index).key;
      cache.put_back(index);
    }
    rounds.push_back(static_cast<double>(pinwire::monotonic_ns() - start) / kHits);
  }
  say(keys == 0 ? "buckets" : "buckets?", buckets, rounds);
  return measure_kept(1) | measure_kept(Kept::kEntriesMax);
}

// What a hit in the cache of peers' pinned buckets costs: take() and put_back() of buckets in
// random order, out of a cache that is full. Nanoseconds per hit, the best and the median of some
// rounds.
//
//   pin_hit [buckets]
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/base/random.h"
#include "pin/remote_cache.h"

namespace {

uint64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
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
    const uint64_t start = now_ns();
    for (const uint64_t number : order) {
      const uint32_t index = cache.take(1, number);
      keys += cache.at(index).key;
      cache.put_back(index);
    }
    rounds.push_back(static_cast<double>(now_ns() - start) / kHits);
  }
  std::sort(rounds.begin(), rounds.end());
  std::printf("a hit among %u buckets: best %.1f ns, median %.1f ns%s\n", buckets, rounds.front(),
              rounds[rounds.size() / 2], keys == 0 ? "" : "?");
  return 0;
}

// gather_over(): blobs of every size from every member, over and over, some ranks late.
#include "extended/team/gather_over.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/engine/engine.h"
#include "tests/support/byte_pattern.h"

using namespace pinwire;

namespace {

constexpr uint32_t kTimes = 60;
constexpr size_t kSizes[] = {0, 1, 8, 500, 1024, 1025, 40'000, 300'000};

size_t size_of(Rank rank, uint32_t time) { return kSizes[(rank * 5 + time) % std::size(kSizes)]; }
std::byte byte_of(Rank rank, uint32_t time, size_t at) {
  return static_cast<std::byte>(byte_of_pattern(rank * 1000 + time, at));
}

void gather_once(gex_TM_t tm, uint32_t time) {
  std::vector<std::byte> mine(size_of(tm->rank, time));
  for (size_t at = 0; at < mine.size(); ++at) mine[at] = byte_of(tm->rank, time, at);
  const auto all = gather_over(tm, mine);
  check(all.size() == tm->size, "as many blobs as members", all.size());
  for (Rank rank = 0; rank < tm->size; ++rank) {
    check(all[rank].size() == size_of(rank, time), "the size of a blob", rank, time,
          all[rank].size());
    for (size_t at = 0; at < all[rank].size(); ++at) {
      check(all[rank][at] == byte_of(rank, time, at), "a byte of a blob", rank, time, at);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t tm;
  check(gex_Client_Init(&client, &endpoint, &tm, "GATHER_OVER", &argc, &argv, 0) == GASNET_OK,
        "gex_Client_Init");
  gex_Segment_t segment;
  for (uint32_t time = 0; time < kTimes; ++time) {
    // From segments, too: data is got from there.
    if (time == kTimes / 2) {
      check(gex_Segment_Attach(&segment, tm, 1 << 20) == GASNET_OK, "gex_Segment_Attach");
    }
    if ((time + tm->rank) % 7 == 0) usleep(3000);
    gather_once(tm, time);
    const auto ranks = gather_values(tm, tm->rank * 3);
    for (Rank rank = 0; rank < tm->size; ++rank) check(ranks[rank] == rank * 3, "a value", rank);
    if (time % 3 == 0) meet(tm);
  }
  if (tm->rank == 0) std::printf("gather_over: ok with %u ranks\n", tm->size);
  std::fflush(stdout);
  gasnet_exit(0);
}

// Ranks that sleep at a barrier over a line in shared memory, where nothing but its owner's message
// wakes them: sleeps have no bound here. One rank comes late, by a turn each: once those that look
// at its lines say that they will sleep, and a little later. A wake-up that is lost ends the job
// with a sentence.
// barriers ROUNDS [SEED]
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "am/wait/sleep.h"
#include "core/base/random.h"
#include "core/engine/client_usage.h"
#include "extended/barrier/lines.h"
#include "gasnet_coll.h"
#include "gasnetex.h"
#include "tests/job/wake/lanes.h"
#include "tests/support/statistic.h"

namespace {

using namespace pinwire;
using namespace pinwire_test;

constexpr int64_t kPatienceNs = 30'000'000'000;
constexpr uint32_t kSleepUs = 60'000'000;
constexpr uint64_t kTurnsOfRole = 10;

enum class Kind { kJob, kJobByTry, kTeam, kTeamEvent, kCount };

gex_TM_t team;

/// The index of the lines of the job's team, which all kinds of its barriers use.
constexpr uint32_t kLinesOfJob = 0;

void pass(Kind kind) {
  switch (kind) {
    case Kind::kJob:
      return static_cast<void>(gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS));
    case Kind::kJobByTry:
      gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
      if (gasnet_barrier_try(0, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_ERR_NOT_READY) {
        gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
      }
      return;
    case Kind::kTeam:
      return gex_Coll_BarrierBlocking(team, 0);
    default:
      return static_cast<void>(gex_Event_Wait(gex_Coll_BarrierNB(team, 0)));
  }
}

/// How many will look at a line of this rank's, if it is the last to come: all, where all share
/// lines; else those that it leads, or who leads it.
int readers() {
  if (all_ranks_local()) return static_cast<int>(engine.rank_count) - 1;
  if (first_local_rank(engine.rank) != engine.rank) return 1;
  int led = 0;
  for (Rank rank = engine.rank + 1; rank < engine.rank_count; ++rank) {
    led += first_local_rank(rank) == engine.rank;
  }
  return led;
}

int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

void expect_patience(int64_t since_ns, const char* what, uint64_t round) {
  if (now_ns() - since_ns > kPatienceNs) {
    fail("%s barrier %llu", what, static_cast<unsigned long long>(round));
  }
}

void come_late(uint64_t round, Random& random) {
  constexpr uint64_t kPauseNs = 300'000;
  const shm::BarrierLines* lines = barrier_lines(engine.rank, kLinesOfJob);
  const int64_t since_ns = now_ns();
  const auto count_asleep = [lines] {
    return std::popcount(lines->here.sleepers.load() | lines->over.sleepers.load());
  };
  while (lines != nullptr && count_asleep() < readers()) {
    sched_yield();
    expect_patience(since_ns, "nobody sleeps at", round);
  }
  // A busy host may preempt a reader between its announcement and its sleep. Each kSurelyEach
  // rounds this rank waits long enough that every reader sleeps.
  constexpr uint64_t kSurelyEach = 5, kSurelyNs = 20'000'000;
  const uint64_t pause_ns = round % kSurelyEach == 0 ? kSurelyNs : random.below(kPauseNs);
  const int64_t until_ns = now_ns() + static_cast<int64_t>(pause_ns);
  while (now_ns() < until_ns) sched_yield();
}

uint64_t statistic(const char* name) {
  uint64_t value = 0;
  if (find_statistic(name, &value) == 0) fail("no statistic %s", name);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 2;
  if (gasnet_attach(nullptr, 0, GASNET_PAGESIZE, 0) != GASNET_OK) return 3;
  if (argc < 2) fail("takes a number of rounds");
  const uint64_t rounds = std::strtoull(argv[1], nullptr, 0);
  const gasnet_node_t me = gasnet_mynode();
  Random random((argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1) + me);
  gasnet_QueryGexObjects(nullptr, nullptr, &team, nullptr);
  sleep_us_max = kSleepUs;
  gasnet_set_waitmode(GASNET_WAIT_BLOCK);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  for (uint64_t round = 0; round < rounds; ++round) {
    const auto kind = static_cast<Kind>(round % static_cast<uint64_t>(Kind::kCount));
    if (round / kTurnsOfRole % gasnet_nodes() == me) come_late(round, random);
    const int64_t since_ns = now_ns();
    pass(kind);
    expect_patience(since_ns, "slept through", round);
  }
  const uint64_t sleeps = statistic("waits.sleeps");
  if (sleeps < rounds / 40) fail("slept %llu times", static_cast<unsigned long long>(sleeps));
  std::printf("rank %u: woken from each of %lu sleeps\n", me, sleeps);
  std::fflush(stdout);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_exit(0);
}

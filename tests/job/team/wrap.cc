// A team past its 2^32nd operation, its 2^32nd epoch, and its 2^31st barrier: the counts of its
// members are set to those of a team that has come so far.
#include <cstdio>
#include <cstdlib>

#include "core/base/check.h"
#include "core/base/log.h"
#include "extended/coll/member/member.h"
#include "extended/coll/progress/seats.h"
#include "extended/state/objects.h"
#include "tests/support/byte_pattern.h"

using namespace pinwire;

namespace {

constexpr uint64_t kWrap = uint64_t{1} << 32;
constexpr uint32_t kOpsBefore = 2 * kWindowOps;
constexpr uint32_t kOps = 3 * kOpsBefore;
constexpr size_t kLarge = 100'000;  ///< goes in pieces

gex_TM_t job_team;
Rank me, ranks;

void meet_all() { gex_Event_Wait(gex_Coll_BarrierNB(job_team, 0)); }

/// As if that team had done `count` operations. All that it has done is over, and so are the
/// epochs.
void set_count(gex_TM_t tm, uint64_t count) {
  Member& member = *tm->member;
  while (member.epochs_over.load() != member.called / kEpochOps) {
    defer(member);
    gasnet_AMPoll();
  }
  meet_all();
  const uint64_t epochs = count / kEpochOps;
  member.called = member.admitted = count;
  member.finished = count;
  member.epochs = epochs;
  member.epochs_over = epochs;
  for (auto& arrivals : member.epoch_arrivals) arrivals = static_cast<uint32_t>(epochs);
  meet_all();
}
gex_TM_t team_at(uint64_t count) {
  gex_TM_t tm = nullptr;
  gex_TM_Split(&tm, job_team, 0, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  set_count(tm, count);
  return tm;
}

void reduce(gex_TM_t tm, Rank root, int64_t factor) {
  const int64_t mine = factor * (me + 1);
  int64_t sum = 0;
  gex_Event_Wait(gex_Coll_ReduceToOneNB(tm, root, &sum, &mine, GEX_DT_I64, sizeof sum, 1,
                                        GEX_OP_ADD, nullptr, nullptr, 0));
  const int64_t expected = factor * ranks * (ranks + 1) / 2;
  if (me == root) check(sum == expected, "the sum of all members", sum, expected);
}

void broadcast(gex_TM_t tm, Rank root, size_t bytes, uint32_t seed) {
  const auto byte_at = [seed](size_t at) { return byte_of_pattern(seed, at); };
  auto* data = static_cast<uint8_t*>(std::malloc(bytes));
  for (size_t at = 0; at < bytes; ++at) data[at] = me == root ? byte_at(at) : uint8_t{0};
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, data, data, bytes, 0));
  for (size_t at = 0; at < bytes; ++at) check(data[at] == byte_at(at), "a byte", at, seed);
  std::free(data);
}

/// Operations of all kinds, so that each letter is used before and after the wrap.
void cross(uint64_t wrap) {
  const gex_TM_t tm = team_at(wrap - kOpsBefore);
  for (uint32_t i = 0; i < kOps; ++i) {
    switch (i % 4) {
      case 0:
        broadcast(tm, 0, 8, i);
        break;
      case 1:
        broadcast(tm, i % ranks, kLarge, i);
        break;
      case 2:
        broadcast(tm, 0, 20'000, i);
        break;
      default:
        reduce(tm, i / 4 % ranks, i);
        break;
    }
  }
  check(tm->member->called == wrap + kOps - kOpsBefore, "operations", tm->member->called);
  gex_TM_Destroy(tm, nullptr, 0);
}

/// The first 2^32 operations are broadcasts by rank 0: the letters of others were never used, and
/// say so whatever the number.
void cross_unused() {
  const gex_TM_t tm = team_at(kWrap - kWindowOps);
  for (uint32_t i = 1; i < kWindowOps; ++i) broadcast(tm, 0, 8, i);
  reduce(tm, 0, 3);  // number 2^32 - 1
  reduce(tm, 0, 5);
  gex_TM_Destroy(tm, nullptr, 0);
}

/// A letter that was used 2^32 operations before, and not since.
void cross_stale() {
  const gex_TM_t tm = team_at(0);
  for (uint32_t i = 0; i < kWindowOps; ++i) reduce(tm, 0, i + 1);
  set_count(tm, kWrap);
  for (uint32_t i = 0; i < kWindowOps; ++i) reduce(tm, 0, 1000 * (i + 1));
  gex_TM_Destroy(tm, nullptr, 0);
}

/// Barriers carry the lower 31 bits of their count where they are under way.
void cross_barriers() {
  gex_TM_t tm = nullptr;
  gex_TM_Split(&tm, job_team, 0, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  constexpr uint64_t kBefore = 20, kBarriers = 60, kAtOnce = 5;
  for (const uint64_t wrap : {kWrap / 2, kWrap}) {
    meet_all();
    tm->member->barrier.of_team.close();
    meet_all();
    open_team_barrier(*tm->member, wrap - kBefore);
    meet_all();
    for (uint64_t i = 0; i < kBarriers; i += kAtOnce) {
      gex_Event_t events[kAtOnce];
      for (gex_Event_t& event : events) event = gex_Coll_BarrierNB(tm, 0);
      gex_Event_WaitAll(events, kAtOnce, 0);
    }
  }
  gex_TM_Destroy(tm, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  check(gex_Client_Init(&client, &endpoint, &job_team, "WRAP", &argc, &argv, 0) == GASNET_OK,
        "gex_Client_Init");
  check(gex_Segment_Attach(&segment, job_team, 1 << 20) == GASNET_OK, "gex_Segment_Attach");
  me = gex_TM_QueryRank(job_team);
  ranks = gex_TM_QuerySize(job_team);
  cross(kWrap);
  cross(kWrap * kEpochOps);  // epochs are counted, too
  cross_unused();
  cross_stale();
  cross_barriers();
  meet_all();
  if (me == 0) std::printf("wrap: ok with %u ranks\n", ranks);
  std::fflush(stdout);
  gasnet_exit(0);
}

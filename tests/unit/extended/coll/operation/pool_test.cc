// Memory that collectives keep for the next ones: as much as the open teams can have at work,
// however many operations their clients had under way.
#include "extended/coll/operation/pool.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "extended/coll/operation/start.h"
#include "extended/coll/progress/seats.h"
#include "extended/rma/sync.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

std::set<Workspace*> seen;
bool may_end = false;

/// Uses its workspace, and ends when the test says so.
bool work(Collective& c) noexcept {
  *c.workspace->scratch.reserve(100) = std::byte{1};
  seen.insert(c.workspace);
  return may_end;
}

/// A team of this process alone.
class Pool : public testing::Test {
 protected:
  Pool() {
    for (pinwire_tm& tm : teams_) {
      tm.size = 1;
      tm.member = &take_seat();
      open_seat(*tm.member, &tm, nullptr, 0);
    }
    seen.clear();
  }
  ~Pool() override {
    for (pinwire_tm& tm : teams_) close_seat(*tm.member);
    EXPECT_EQ(kept_in_pool().operations, before_.operations);
    EXPECT_EQ(kept_in_pool().workspaces, before_.workspaces);
  }
  /// In each team so many under way at once, then none.
  void run(int operations) {
    may_end = false;
    std::vector<pinwire_op*> events;
    for (int i = 0; i < operations; ++i) {
      for (pinwire_tm& tm : teams_) events.push_back(start_collective(new_collective(&tm, work)));
    }
    may_end = true;
    for (pinwire_tm& tm : teams_) run_or_defer(*tm.member);
    wait_all(events.data(), events.size());
  }

  static constexpr uint32_t kTeams = 2;
  const PoolCounts before_ = kept_in_pool();
  pinwire_tm teams_[kTeams];
};

TEST_F(Pool, KeepsWhatTheWindowsOfTheTeamsHold) {
  for (int turn = 0; turn < 3; ++turn) {
    run(3000);
    EXPECT_LE(seen.size(), kTeams * kWindowOps) << "operations that wait have workspaces";
    EXPECT_LE(kept_in_pool().workspaces, kTeams * kWindowOps);
    EXPECT_LE(kept_in_pool().operations, kTeams * 16 * kWindowOps);
  }
}

TEST_F(Pool, UsesAgainWhatItKeeps) {
  run(kWindowOps);
  const std::set<Workspace*> first = seen;
  run(kWindowOps);
  EXPECT_EQ(seen, first);
  EXPECT_EQ(kept_in_pool().operations, kTeams * kWindowOps);
}

}  // namespace
}  // namespace pinwire

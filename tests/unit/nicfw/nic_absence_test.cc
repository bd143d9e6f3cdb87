// Acknowledgements that the first poll after an absence brings. Their word of losses is looked at
// when that poll ends, as others beside them may tell more.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicAbsence : public testing::Test {
 protected:
  /// As many puts of 8 bytes of rank 0, in a frame each.
  void put(uint32_t count, Rank to) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(group_.post(0, put_work(to, &word_, 8, &memory_, region_[to].remote_key)));
    }
    group_.poll(0);  // post() sends the first few alone
  }
  /// Takes what waits for a rank off the wire.
  std::vector<std::vector<std::byte>> hold_back(Rank to) {
    std::vector<std::vector<std::byte>> held;
    while (group_.port(to).waiting() != 0) held.push_back(group_.port(to).take_first());
    return held;
  }
  void deliver(Rank to, const std::vector<std::byte>& frame) {
    ASSERT_TRUE(group_.port(to).inject(frame.data(), static_cast<uint32_t>(frame.size())));
  }
  /// The rank takes a frame, and acknowledges it.
  void take(Rank rank, const std::vector<std::byte>& frame) {
    deliver(rank, frame);
    for (int i = 0; i < 2; ++i) group_.poll(rank);
  }
  void pass(uint64_t ns) {
    group_.clock().advance(ns);
    group_.poll(0);
  }
  /// A put of which the acknowledgement comes so much later, while rank 0 polls.
  void exchange(Rank peer, uint64_t round_trip_ns) {
    constexpr uint64_t kStepNs = 50'000;
    put(1, peer);
    const auto held = hold_back(peer);
    uint64_t left_ns = round_trip_ns;
    for (; left_ns > kStepNs; left_ns -= kStepNs) pass(kStepNs);
    group_.clock().advance(left_ns);
    for (const auto& frame : held) take(peer, frame);
    group_.poll(0);
    ASSERT_EQ(group_.dones(0).size(), 1u);
  }

  static constexpr uint64_t kAbsenceNs = 250'000;  ///< longer than the lane calls one
  NicGroup group_{{.ranks = 3, .config = {.coalesce = false}}};
  uint64_t word_ = 5, memory_ = 0;
  Region region_[3] = {group_.pin(0, &memory_, 8), group_.pin(1, &memory_, 8),
                       group_.pin(2, &memory_, 8)};
};

/// On a long path an acknowledgement after a timeout is that of the first copy, although the client
/// was absent meanwhile. The rest then waits for a round trip, and for no other timeout.
TEST_F(NicAbsence, AfterATimeoutEndsTheWaitForTheRest) {
  for (int i = 0; i < 20; ++i) exchange(1, 1'000'000);
  put(6, 1);
  const auto held = hold_back(1);
  ASSERT_EQ(held.size(), 6u);
  for (int i = 0; i < 1'000 && group_.stat(0, "late_asks") == 0; ++i) pass(50'000);
  ASSERT_EQ(group_.stat(0, "late_asks"), 1u);
  group_.poll(1);
  group_.poll(0);
  ASSERT_EQ(group_.stat(0, "retransmits"), 1u);
  hold_back(1);
  take(1, held.front());
  pass(kAbsenceNs);
  size_t dones = group_.dones(0).size();
  ASSERT_EQ(dones, 1u);
  ASSERT_EQ(group_.stat(0, "retransmits"), 1u);
  for (int i = 0; i < 1'000 && dones != 6; ++i) {
    for (int j = 0; j < 2; ++j) group_.poll(1);
    pass(50'000);
    dones += group_.dones(0).size();
  }
  EXPECT_EQ(dones, 6u);
  EXPECT_EQ(group_.stat(0, "timeouts"), 1u) << "one for all that was lost";
}

/// A window was closed by the poll that had put off a look at it. The next frames that lie in it
/// have nothing to do with that: the one that others have overtaken is repeated in time, although
/// an acknowledgement of another peer is put off.
TEST_F(NicAbsence, LeavesNothingInAWindowThatItCloses) {
  for (const Rank peer : {1u, 2u}) {
    for (int i = 0; i < 20; ++i) exchange(peer, 1'000);
  }
  put(2, 1);
  for (const auto& frame : hold_back(1)) take(1, frame);
  ASSERT_EQ(group_.port(0).waiting(), 2u);
  pass(kAbsenceNs);
  ASSERT_EQ(group_.dones(0).size(), 2u);

  put(3, 1);
  const auto overtaken = hold_back(1);
  ASSERT_EQ(overtaken.size(), 3u);
  for (const size_t next : {1u, 2u}) take(1, overtaken[next]);
  pass(500);
  ASSERT_EQ(group_.dones(0).size(), 2u);
  put(2, 2);
  take(2, hold_back(2).front());
  pass(kAbsenceNs);
  ASSERT_EQ(group_.dones(0).size(), 1u);
  ASSERT_EQ(group_.stat(0, "late_asks"), 0u);
  const uint64_t before = group_.stat(0, "retransmits");
  pass(500);
  EXPECT_GT(group_.stat(0, "retransmits"), before);
}

}  // namespace
}  // namespace pinwire

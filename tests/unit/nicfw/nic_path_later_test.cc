// A path that changes later: it is found by what it loses, and widens again.
#include <gtest/gtest.h>

#include "tests/support/path_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

struct NicPathLater : PathGroup {
  /// Rank 0 sends a short frame that is lost, and repeats it.
  void lose_a_short_frame() {
    const uint64_t word = 5;
    ASSERT_TRUE(group.post(0, send_work(1, kRequest, &word, sizeof word)));
    group.port(1).lose_waiting();
    const uint64_t repeats = group.stat(0, "retransmits");
    for (int i = 0; i < 10'000 && group.stat(0, "retransmits") == repeats; ++i) {
      group.clock().advance(10'000);
      group.poll(1);
      group.poll(0);
    }
    ASSERT_EQ(group.stat(0, "retransmits"), repeats + 1);
    for (const uint32_t rank :
         {0u, 1u, 0u}) {  // a round trip that is long enough to be the repeat's
      group.clock().advance(20'000);
      group.poll(rank);
    }
  }
};

TEST_F(NicPathLater, APathThatNarrowsLaterIsFoundByWhatItLoses) {
  put(80'000);
  group.run(1'000, 0, 10'000);
  narrow();
  EXPECT_LT(put(1 << 20), kSecond / 2);
  EXPECT_EQ(send(byte_pattern(8'000), 0), byte_pattern(8'000));
  group.run(10'000, 0, 10'000);
  EXPECT_EQ(heard.sentences.size(), 1u);
  // Each long frame that was on its way, and a few more of the first ones.
  EXPECT_LE(group.stat(0, "retransmits"), (1u << 20) / 8'000 + 20);
}

/// The long frames that were lost go in pieces at once, and the short one that was not lost is not
/// sent again.
TEST_F(NicPathLater, WhatAPathHasLostIsRepeatedAsSoonAsItIsNarrow) {
  put(80'000);
  narrow();
  const auto source = byte_pattern(80'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const uint64_t before = group.stat(0, "retransmits");
  for (const uint64_t bytes : {uint64_t{8'000}, uint64_t{8}, uint64_t{80'000}}) {
    ASSERT_TRUE(group.post(0, put_work(1, source.data(), bytes, target.data(), region.remote_key)));
  }
  size_t done = 0;
  uint64_t waited_ns = 0;
  for (; done < 3 && waited_ns < kSecond; waited_ns += 10'000) {
    group.run(1, 0, 10'000);
    done += group.dones(0).size();
  }
  EXPECT_EQ(done, 3u);
  EXPECT_EQ(source, target);
  EXPECT_LT(waited_ns, 5 * kMillisecond);
  EXPECT_LE(group.stat(0, "retransmits") - before, 25u) << "a few of each long frame";
}

/// The answers of such a peer come when each pair of probes is judged already.
TEST_F(NicPathLater, APathThatNarrowsLaterIsFoundThoughThePeerPollsRarely) {
  put(80'000);
  narrow();
  const auto source = byte_pattern(80'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  uint64_t waited_ns = 0;
  for (; group.dones(0).empty() && waited_ns < 20 * kSecond; waited_ns += kMillisecond) {
    group.poll(0);
    if (waited_ns % (100 * kMillisecond) == 0) group.poll(1);
    group.clock().advance(kMillisecond);
  }
  EXPECT_EQ(source, target);
  EXPECT_LT(waited_ns, 2 * kSecond);
}

/// A short frame that others overtake counts as lost, and a path that loses short frames may be
/// full rather than narrow. But then its first copy arrives.
TEST_F(NicPathLater, AShortFrameThatWasOvertakenHidesNoHole) {
  put(200'000);
  expect_wide();
  const uint64_t word = 5;
  const Work message = send_work(1, kRequest, &word, sizeof word);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(group.post(0, message));
    group.run(4, 0, 10'000);
  }
  ASSERT_TRUE(group.post(0, message));
  const auto first = group.port(1).peek();
  const std::vector<std::byte> overtaken(first.begin(), first.end());
  group.port(1).lose_waiting();
  const uint64_t repeats = group.stat(0, "retransmits");
  for (int i = 0; i < 1'000 && group.stat(0, "retransmits") == repeats; ++i) {
    ASSERT_TRUE(i >= 1 || group.post(0, message));
    group.clock().advance(10'000);
    group.poll(1);
    group.poll(0);
  }
  ASSERT_EQ(group.stat(0, "retransmits"), repeats + 1);
  group.port(1).lose_waiting();
  ASSERT_TRUE(group.port(1).inject(overtaken.data(), static_cast<uint32_t>(overtaken.size())));
  group.poll(1);
  group.poll(1);
  group.poll(0);
  narrow();
  const uint64_t took_ns = put(200'000);
  EXPECT_LE(took_ns, 2 * kMillisecond);
}

/// One short frame that was lost may be chance: it hides a hole for no longer than five
/// milliseconds, in which probes leave a millisecond apart.
TEST_F(NicPathLater, AShortFrameThatWasLostHidesAHoleForAWhile) {
  put(200'000);
  expect_wide();
  lose_a_short_frame();
  narrow();
  const uint64_t probes = group.stat(0, "path_probes");
  const uint64_t took_ns = put(200'000);
  EXPECT_GE(took_ns, 4 * kMillisecond);
  EXPECT_LE(took_ns, 8 * kMillisecond);
  EXPECT_LE(group.stat(0, "path_probes") - probes, 2u * 9) << "a pair each millisecond";
}

/// Two that were lost in a row are a full switch: they hide a hole for fifty milliseconds, in which
/// probes leave ten milliseconds apart.
TEST_F(NicPathLater, ShortFramesThatAreLostAgainHideAHoleForLonger) {
  put(200'000);
  expect_wide();
  lose_a_short_frame();
  group.run(100, 0, 20'000);
  lose_a_short_frame();
  narrow();
  const uint64_t probes = group.stat(0, "path_probes");
  const uint64_t took_ns = put(200'000);
  EXPECT_GE(took_ns, 45 * kMillisecond);
  EXPECT_LE(took_ns, 70 * kMillisecond);
  EXPECT_LE(group.stat(0, "path_probes") - probes, 2u * 9) << "a pair each ten milliseconds";
}

TEST_F(NicPathLater, APathThatWidensLaterIsFound) {
  narrow();
  put(80'000);
  group.run(10'000, 0, 10'000);
  ASSERT_EQ(heard.sentences.size(), 1u);
  widen();
  group.clock().advance(10 * kSecond);
  group.run(10);
  put(80'000);
  expect_wide();
}

}  // namespace
}  // namespace pinwire

// A fenced message comes after all that was sent before it, whatever the wire does, and however few
// receive buffers there are (kWorkFenced).
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr uint64_t kMessages = 1500;
constexpr uint64_t kFenceEvery = 6;

struct Wire {
  LoopFaults faults;
  uint32_t rx_buffers;
  bool coalesce;
};

class NicFence : public testing::TestWithParam<Wire> {
 protected:
  /// Words of one message; every sixth is fenced.
  static bool is_fenced(uint64_t word) { return word % kFenceEvery == kFenceEvery - 1; }
};

TEST_P(NicFence, KeepsWhatWasSentBeforeItInFront) {
  const Wire& wire = GetParam();
  for (const auto cls : {MessageClass::kRequest, MessageClass::kReply}) {
    NicGroup group({.rx_buffers = wire.rx_buffers,
                    .config = {.coalesce = wire.coalesce, .first_sequence = 0xffffff80}});
    group.set_faults(wire.faults);
    const auto payload = byte_pattern(700);
    std::vector<bool> seen(kMessages);
    uint64_t sent = 0, got = 0;
    for (uint64_t round = 0; got < kMessages; ++round) {
      ASSERT_LT(round, 2'000'000u) << sent << " sent, " << got << " arrived";
      while (sent < kMessages) {
        Work work = send_work(1, cls, &sent, 8);
        work.flags =
            static_cast<uint8_t>(kWorkCopied | kWorkSilent | (is_fenced(sent) ? kWorkFenced : 0));
        work.local = const_cast<uint8_t*>(payload.data());
        work.bytes = sent * 37 % payload.size();
        if (!group.post(0, work)) break;
        ++sent;
      }
      group.poll(0);
      for (const uint64_t word : group.poll(1)) {
        ASSERT_LT(word, kMessages);
        ASSERT_FALSE(seen[word]) << word;
        seen[word] = true;
        ++got;
        for (uint64_t before = 0; is_fenced(word) && before < word; ++before) {
          ASSERT_TRUE(seen[before] || is_fenced(before)) << word << " came before " << before;
        }
      }
      group.clock().advance(2'000);
    }
    EXPECT_EQ(group.nic(0).failure(), nullptr);
    EXPECT_EQ(group.nic(1).failure(), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, NicFence,
    testing::Values(Wire{{}, 256, true}, Wire{{}, 256, false}, Wire{{.loss = 0.1}, 256, true},
                    Wire{{.loss = 0.3, .duplicate = 0.1, .reorder = 0.3}, 256, true},
                    Wire{{.reorder = 0.5}, 256, false},
                    Wire{{.loss = 0.2, .reorder = 0.5}, 4, false},
                    Wire{{.loss = 0.2, .reorder = 0.5}, 8, true}));

}  // namespace
}  // namespace pinwire

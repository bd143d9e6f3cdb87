// The simulated hardware: it must fail the run of whoever breaks the port's contract, and do to
// frames what its scenario says.
#include "tests/sim/fabric/fabric.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/sim/client/pattern.h"
#include "tests/sim/fabric/ether.h"

namespace pinwire::sim {
namespace {

struct Wire {
  explicit Wire(const Scenario& rules = Scenario{}) : scenario(rules) {}

  /// A minimal frame from 0 to 1.
  std::vector<std::byte> head(size_t bytes) const {
    std::vector<std::byte> frame(bytes);
    fill_pattern(frame, 7);
    std::memcpy(frame.data(), mac_of(1).data(), 6);
    std::memcpy(frame.data() + 6, mac_of(0).data(), 6);
    return frame;
  }
  uint32_t send(std::span<const std::byte> head, const std::byte* body = nullptr,
                uint32_t body_bytes = 0, uint32_t key = 0) {
    const TxFrame frame{head.data(), static_cast<uint32_t>(head.size()), body_bytes, body, key};
    return fabric.port(0).tx(0, {&frame, 1});
  }
  std::vector<RxFrame> receive() {
    while (schedule.step()) {
    }
    std::vector<RxFrame> frames(4096);
    frames.resize(fabric.port(1).rx(0, frames));
    return frames;
  }

  Scenario scenario;
  Schedule schedule;
  Verdict verdict{schedule};
  Fabric fabric{scenario, schedule, verdict};
};

TEST(Fabric, DeliversWhatWasSentAligned) {
  Wire wire;
  const auto head = wire.head(100);
  ASSERT_EQ(wire.send(head), 1u);
  const auto got = wire.receive();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(got[0].data) % 16, 0u);
  ASSERT_EQ(got[0].bytes, head.size());
  EXPECT_EQ(std::memcmp(got[0].data, head.data(), head.size()), 0);
}

TEST(Fabric, PadsShortFrames) {
  Wire wire;
  wire.send(wire.head(20));
  EXPECT_EQ(wire.receive().at(0).bytes, kEtherBytesMin);
}

TEST(Fabric, LosesAndRepeatsAsOftenAsAsked) {
  Scenario scenario;
  scenario.faults.loss = 0.3;
  scenario.faults.duplicate = 0.1;
  scenario.tx_ring_frames = 4096;
  scenario.rx_buffers = 4096;
  Wire wire(scenario);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(wire.send(wire.head(60)), 1u);
  const auto frames = wire.receive().size();
  EXPECT_GT(frames, 1430u);  // 2000 x 0.7 x 1.1 = 1540; the seed is fixed
  EXPECT_LT(frames, 1650u);
  EXPECT_GT(wire.fabric.counts().lost, 500u);
  EXPECT_GT(wire.fabric.counts().duplicated, 100u);
}

TEST(Fabric, ReadsAttachedMemoryOnlyOnDelivery) {
  Scenario scenario;
  scenario.zero_copy_tx = true;
  Wire wire(scenario);
  std::array<std::byte, 64> memory{};
  auto key = wire.fabric.port(0).attach(memory.data(), memory.size());
  ASSERT_TRUE(key.ok());
  ASSERT_EQ(wire.send(wire.head(60), memory.data(), 64, key.value()), 1u);
  memory.fill(std::byte{0x77});
  const auto got = wire.receive();
  ASSERT_EQ(got.at(0).bytes, 124u);
  EXPECT_EQ(got[0].data[60], std::byte{0x77});
}

TEST(Fabric, ReadsOtherMemoryAtOnce) {
  Wire wire;
  std::array<std::byte, 64> memory{};
  ASSERT_EQ(wire.send(wire.head(60), memory.data(), 64), 1u);
  memory.fill(std::byte{0x77});
  EXPECT_EQ(wire.receive().at(0).data[60], std::byte{0});
}

TEST(Fabric, DamageIsAlwaysVisibleToTheChecksum) {
  // A genuine IPv4 UDP frame, damaged 20,000 times.
  Random random(5);
  std::vector<std::byte> frame(200);
  fill_pattern(frame, 3);
  const uint8_t headers[] = {0x08, 0x00, 0x45, 0,  0, 186, 0, 0, 0x40, 0, 64, 17, 0,   0, 10,
                             0,    0,    1,    10, 0, 0,   2, 1, 2,    3, 4,  0,  166, 0, 0};
  std::memcpy(frame.data() + 12, headers, sizeof headers);
  write_checksums(frame);
  ASSERT_TRUE(checksums_good(frame));
  for (int i = 0; i < 20'000; ++i) {
    auto damaged = frame;
    flip_bits(damaged, random);
    ASSERT_NE(damaged, frame);
    EXPECT_FALSE(checksums_good(damaged)) << "round " << i;
  }
}

TEST(SimPort, FailsWhoReleasesTwice) {
  Wire wire;
  wire.send(wire.head(60));
  const auto got = wire.receive();
  wire.fabric.port(1).release(0, got);
  EXPECT_FALSE(wire.verdict.failed());
  wire.fabric.port(1).release(0, got);
  EXPECT_TRUE(wire.verdict.failed());
}

TEST(SimPort, FailsWhoKeepsABuffer) {
  Wire wire;
  wire.send(wire.head(60));
  wire.receive();
  wire.fabric.port(1).check_closed();
  EXPECT_TRUE(wire.verdict.failed());
}

TEST(SimPort, FailsWhoSendsFromMemoryThatIsNotAttached) {
  Scenario scenario;
  scenario.zero_copy_tx = true;
  std::array<std::byte, 64> memory{};
  Wire outside(scenario);
  const uint32_t key = outside.fabric.port(0).attach(memory.data(), 32).value();
  outside.send(outside.head(60), memory.data() + 1, 32, key);
  EXPECT_TRUE(outside.verdict.failed());
  Wire detached(scenario);
  const uint32_t gone = detached.fabric.port(0).attach(memory.data(), 64).value();
  detached.fabric.port(0).detach(gone);
  detached.send(detached.head(60), memory.data(), 64, gone);
  EXPECT_TRUE(detached.verdict.failed());
}

TEST(SimPort, FailsWhoSendsTooMuch) {
  Wire wire;
  wire.send(wire.head(1515));
  EXPECT_TRUE(wire.verdict.failed());
}

TEST(SimPort, DropsWhatFindsNoBuffer) {
  Scenario scenario;
  scenario.rx_buffers = 3;
  Wire wire(scenario);
  for (int i = 0; i < 5; ++i) wire.send(wire.head(60));
  EXPECT_EQ(wire.receive().size(), 3u);
  EXPECT_EQ(wire.fabric.counts().unbuffered, 2u);
}

TEST(SimPort, TakesNoMoreThanItsRing) {
  Scenario scenario;
  scenario.tx_ring_frames = 3;
  Wire wire(scenario);
  uint32_t taken = 0;
  for (int i = 0; i < 5; ++i) taken += wire.send(wire.head(60));
  EXPECT_EQ(taken, 3u);
  wire.receive();
  EXPECT_EQ(wire.send(wire.head(60)), 1u);
}

}  // namespace
}  // namespace pinwire::sim

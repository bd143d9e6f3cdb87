// Many senders, one receiver, no loss: every message once, shares alike, and
// next to nothing is repeated, on virtual time.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "core/base/check.h"
#include "tests/sim/fabric/fabric.h"
#include "tests/sim/fabric/nics.h"
#include "tests/support/stat_map.h"

namespace pinwire::sim {
namespace {

struct FloodCase {
  uint32_t senders;
  uint64_t bytes;       ///< of each message beside its head
  uint64_t handler_ns;  ///< that the receiver takes for one message
  uint32_t rx_buffers;
  double jain_min;
};

/// Every rank but the first floods rank 0, whose handlers take their time.
class Flood final : public EventTarget {
 public:
  explicit Flood(const FloodCase &flood) : flood_(flood), payload_(flood.bytes) {
    scenario_.ranks = flood.senders + 1;
    scenario_.frame_bytes_max = 9014;
    scenario_.link_bits_per_s = 100'000'000'000;
    scenario_.tx_ring_frames = 512;
    scenario_.zero_copy_tx = true;
    scenario_.checksum_offload = true;
    scenario_.faults.delay_ns = 1'000;
    scenario_.switch_buffer_bytes = 4 << 20;
    scenario_.rx_buffers = flood.rx_buffers;
    fabric_ = std::make_unique<Fabric>(scenario_, schedule_, verdict_);
    scenario_.network_depth = 256;
    nics_ = connected_nics(scenario_, *fabric_, schedule_);
    for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
      schedule_.at(schedule_.now() + rank, *this, rank);
    }
    posted_.resize(scenario_.ranks);
    got_.resize(scenario_.ranks);
  }

  /// Floods for `ns`, then waits until everything that was posted has come.
  void run(uint64_t ns) {
    const uint64_t start_ns = schedule_.now();
    while (schedule_.now() < start_ns + ns && !verdict_.failed()) step();
    shares_ = got_;
    flooding_ = false;
    const uint64_t patience_ns = 500'000'000;
    while (got_ != posted_ && schedule_.now() < start_ns + ns + patience_ns) step();
    EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
    EXPECT_EQ(got_, posted_);
  }

  void fire(uint64_t rank) override {
    std::array<Recv, 32> messages;
    Driver &nic = *nics_[rank];
    const uint32_t count = nic.recv(0, RecvFilter::kAll, messages);
    for (uint32_t i = 0; i < count; ++i) ++got_[messages[i].peer];
    nic.give_back(0, {messages.data(), count});
    const uint64_t handlers_ns = rank == 0 ? count * flood_.handler_ns : 0;
    for (int k = 0; rank != 0 && flooding_ && k < 16; ++k) posted_[rank] += post(nic);
    schedule_.at(schedule_.now() + kPollNs + handlers_ns, *this, rank);
  }

  /// Sum of a counter over the senders.
  uint64_t sent(const char *name) {
    uint64_t sum = 0;
    for (Rank rank = 1; rank < scenario_.ranks; ++rank) sum += stat(rank, name);
    return sum;
  }
  uint64_t stat(Rank rank, const char *name) { return stat_of(*nics_[rank], name); }
  /// Jain's index of the senders' shares while all flooded.
  double jain() const { return sim::jain(std::span(shares_).subspan(1)); }
  uint64_t messages() const {
    uint64_t sum = 0;
    for (const uint64_t share : shares_) sum += share;
    return sum;
  }
  const FabricCounts &counts() const { return fabric_->counts(); }

 private:
  static constexpr uint64_t kPollNs = 300;

  void step() { check(schedule_.step(), "no event is left"); }
  uint32_t post(Driver &nic) {
    Work work{};
    work.op = Op::kSend;
    work.cls = MessageClass::kRequest;
    work.flags = kWorkSilent | kWorkCopied;
    work.head = head_.data();
    work.head_bytes = 8;
    work.local = payload_.data();
    work.bytes = payload_.size();
    return nic.post(0, {&work, 1});
  }

  FloodCase flood_;
  Scenario scenario_;
  Schedule schedule_;
  Verdict verdict_{schedule_};
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::byte> payload_;
  std::vector<std::unique_ptr<Driver>> nics_;
  std::array<std::byte, 8> head_{};
  std::vector<uint64_t> posted_;
  std::vector<uint64_t> got_;
  std::vector<uint64_t> shares_;
  bool flooding_ = true;
};

class FloodOfRequests : public testing::TestWithParam<FloodCase> {};

TEST_P(FloodOfRequests, RepeatsNextToNothing) {
  const FloodCase &tested = GetParam();
  constexpr uint64_t kFloodNs = 20'000'000;
  Flood flood(tested);
  flood.run(kFloodNs);
  const uint64_t frames = flood.sent("frames_sent");
  const uint64_t repeats = flood.sent("retransmits");
  const uint64_t refused = flood.stat(0, "rx_drop_refused");
  const auto busy_ns = static_cast<double>(flood.messages() * tested.handler_ns);
  std::printf(
      "%4u senders of %4lu B, handlers of %4lu ns, %u buffers: %lu "
      "messages (handlers busy for "
      "%.0f %%), Jain %.3f; %lu frames, %lu repeats, %lu timeouts, %lu "
      "refused, %lu credit probes, "
      "%lu acknowledgements, %lu without a buffer\n",
      tested.senders, tested.bytes, tested.handler_ns, tested.rx_buffers, flood.messages(),
      busy_ns * 100 / kFloodNs, flood.jain(), frames, repeats, flood.sent("timeouts"), refused,
      flood.sent("credit_probes"), flood.stat(0, "acks_sent"), flood.counts().unbuffered);
  EXPECT_EQ(flood.counts().lost + flood.counts().overrun, 0u);
  EXPECT_LE(repeats * 100, frames);
  EXPECT_LE(refused * 100, frames);
  EXPECT_GE(flood.jain(), tested.jain_min);
}

INSTANTIATE_TEST_SUITE_P(
    Each, FloodOfRequests,
    testing::Values(FloodCase{1, 0, 200, 1024, 1}, FloodCase{1, 1000, 2000, 1024, 1},
                    FloodCase{8, 0, 200, 1024, 0.95}, FloodCase{8, 0, 2000, 1024, 0.95},
                    FloodCase{8, 1000, 200, 1024, 0.95}, FloodCase{8, 1000, 2000, 1024, 0.95},
                    FloodCase{32, 0, 200, 1024, 0.95}, FloodCase{32, 0, 2000, 1024, 0.9},
                    FloodCase{32, 1000, 200, 1024, 0.95}, FloodCase{32, 1000, 2000, 1024, 0.95},
                    FloodCase{32, 1000, 2000, 64, 0.95}, FloodCase{64, 1000, 2000, 64, 0.9}));

}  // namespace
}  // namespace pinwire::sim

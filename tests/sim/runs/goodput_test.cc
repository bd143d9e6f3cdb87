// Goodput under loss, on virtual time: exact and the same on every machine, so it may be asserted
// (at 1e-3 frame loss at least half of what a lossless network gives).
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "core/base/check.h"
#include "tests/sim/fabric/fabric.h"
#include "tests/sim/fabric/nics.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kPollNs = 300;

/// Rank 0 keeps `depth` operations in flight to rank 1 until `operations` are done.
class Stream final : public EventTarget {
 public:
  Stream(const Scenario& scenario, const Work& work, uint32_t operations, uint32_t depth)
      : scenario_(scenario), work_(work), operations_(operations), depth_(depth) {
    for (Rank rank = 0; rank < 2; ++rank) {
      memory_[rank].resize(work.bytes);
      region_[rank] = *nics_[rank]->pin(memory_[rank].data(), memory_[rank].size(), -1, 0);
      schedule_.at(schedule_.now() + rank, *this, rank);
    }
    work_.peer = 1;
    work_.local = memory_[0].data();
    work_.local_key = region_[0].local_key;
    work_.head = head_.data();
    work_.remote = region_[1].base;
    work_.remote_key = region_[1].remote_key;
  }

  /// Bytes of payload per second of virtual time.
  double run() {
    const uint64_t start_ns = schedule_.now();
    while (done_ < operations_ && !verdict_.failed()) check(schedule_.step(), "no event is left");
    EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
    const auto bytes = static_cast<double>(work_.bytes + work_.head_bytes) * operations_;
    return bytes * 1e9 / static_cast<double>(schedule_.now() - start_ns);
  }

  void fire(uint64_t rank) override {
    std::array<Recv, 64> messages;
    Driver& nic = *nics_[rank];
    const uint32_t got = nic.recv(0, RecvFilter::kAll, messages);
    nic.give_back(0, {messages.data(), got});
    std::array<Done, 64> done;
    done_ += nic.done(0, done);
    if (rank == 0) {
      while (posted_ < operations_ && posted_ - done_ < depth_ && nic.post(0, {&work_, 1}) == 1) {
        ++posted_;
      }
    }
    schedule_.at(schedule_.now() + kPollNs, *this, rank);
  }

  const FabricCounts& counts() const { return fabric_.counts(); }

 private:
  Scenario scenario_;
  Schedule schedule_;
  Verdict verdict_{schedule_};
  Fabric fabric_{scenario_, schedule_, verdict_};
  Work work_;
  uint32_t operations_;
  uint32_t depth_;
  uint32_t posted_ = 0;
  uint32_t done_ = 0;
  std::array<std::byte, kHeadBytesMax> head_{};
  std::vector<std::byte> memory_[2];
  std::vector<std::unique_ptr<Driver>> nics_ = connected_nics(scenario_, fabric_, schedule_);
  Region region_[2]{};
};

struct Flood {
  const char* name;
  Op op;
  uint8_t head_bytes;
  uint64_t bytes;
  uint32_t frame_bytes_max;
  uint32_t operations;
  uint32_t depth;
  double lossless_gbit_min;  ///< half of little would prove little
};

class Goodput : public testing::TestWithParam<Flood> {
 protected:
  double measure(double loss) {
    const Flood& flood = GetParam();
    Scenario scenario;
    scenario.faults.loss = loss;
    scenario.frame_bytes_max = flood.frame_bytes_max;
    scenario.tx_ring_frames = 1024;
    scenario.zero_copy_tx = true;
    scenario.checksum_offload = true;
    Work work{};
    work.op = flood.op;
    work.head_bytes = flood.head_bytes;
    work.bytes = flood.bytes;
    Stream stream(scenario, work, flood.operations, flood.depth);
    const double rate = stream.run();
    std::printf("%-16s loss %g: %.3f Gbit/s, %lu frames sent, %lu lost\n", flood.name, loss,
                rate * 8e-9, stream.counts().sent, stream.counts().lost);
    EXPECT_EQ(loss > 0, stream.counts().lost > 0);
    return rate;
  }
};

TEST_P(Goodput, AtOneLossInAThousandIsAtLeastHalfOfLossless) {
  const double whole = measure(0);
  EXPECT_GE(whole * 8e-9, GetParam().lossless_gbit_min);
  EXPECT_GE(measure(1e-3), whole / 2);
}

TEST_P(Goodput, DegradesWithLossButNeverStops) {
  const double whole = measure(0);
  EXPECT_GE(measure(0.05), whole / 4);
}

INSTANTIATE_TEST_SUITE_P(
    Each, Goodput,
    testing::Values(Flood{"put_1MiB", Op::kPut, 0, 1 << 20, 1514, 40, 32, 20},
                    Flood{"put_1MiB_jumbo", Op::kPut, 0, 1 << 20, 9014, 160, 32, 20},
                    Flood{"put_4KiB", Op::kPut, 0, 4096, 1514, 8000, 32, 20},
                    Flood{"put_64KiB_alone", Op::kPut, 0, 65536, 1514, 500, 1, 10},
                    Flood{"get_64KiB", Op::kGet, 0, 65536, 1514, 500, 32, 20},
                    Flood{"put_send_4KiB", Op::kPutSend, 8, 4096, 1514, 8000, 32, 15},
                    Flood{"message_8B", Op::kSend, 8, 8, 1514, 20000, 32, 0.5},
                    Flood{"message_8B_alone", Op::kSend, 8, 8, 1514, 5000, 1, 0.01}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace pinwire::sim

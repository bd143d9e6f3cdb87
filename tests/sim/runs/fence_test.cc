// How much a path with a delay repeats: fenced messages behind a loss (R11), and puts beside
// requests that the client takes rarely (R19), on virtual time.
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

struct PairCase {
  double loss;
  uint64_t delay_ns;
  uint32_t fence_every;  ///< 0: no message is fenced
  uint32_t puts;         ///< of one MiB, kept under way
  uint32_t take_every;   ///< polls of rank 1 of which one takes requests
};

/// Rank 0 sends messages to rank 1, as fast as they are taken, and keeps puts under way.
class Pair final : public EventTarget {
 public:
  Pair(const PairCase& pair, uint32_t rx_buffers, uint64_t messages)
      : pair_(pair), messages_(messages) {
    scenario_.frame_bytes_max = 9014;
    scenario_.link_bits_per_s = 100'000'000'000;
    scenario_.tx_ring_frames = 512;
    scenario_.zero_copy_tx = true;
    scenario_.checksum_offload = true;
    scenario_.rx_buffers = rx_buffers;
    scenario_.faults.loss = pair.loss;
    scenario_.faults.delay_ns = pair.delay_ns;
    scenario_.nic.coalesce = false;
    fabric_ = std::make_unique<Fabric>(scenario_, schedule_, verdict_);
    scenario_.network_depth = 256;
    nics_ = connected_nics(scenario_, *fabric_, schedule_);
    for (Rank rank = 0; rank < 2; ++rank) {
      memory_[rank].resize(1 << 20);
      region_[rank] = *nics_[rank]->pin(memory_[rank].data(), memory_[rank].size(), -1, 0);
      schedule_.at(schedule_.now() + rank, *this, rank);
    }
  }

  void run() {
    const uint64_t end_ns = schedule_.now() + 2'000'000'000;
    while (got_ < messages_ && schedule_.now() < end_ns && !verdict_.failed()) {
      check(schedule_.step(), "no event is left");
    }
    EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
    EXPECT_EQ(got_, messages_);
  }

  void fire(uint64_t rank) override {
    std::array<Recv, 64> messages;
    const bool takes = rank == 0 || ++polls_ % pair_.take_every == 0;
    const auto filter = takes ? RecvFilter::kAll : RecvFilter::kRepliesOnly;
    const uint32_t count = nics_[rank]->recv(0, filter, messages);
    nics_[rank]->give_back(0, {messages.data(), count});
    if (rank == 1) got_ += count;
    if (rank == 0) post();
    schedule_.at(schedule_.now() + 500, *this, rank);
  }

  uint64_t stat(Rank rank, const char* name) { return stat_of(*nics_[rank], name); }
  uint64_t lost() const { return fabric_->counts().lost; }
  uint64_t puts_done() const { return puts_done_; }

 private:
  void post() {
    std::array<Done, 64> done;
    puts_done_ += nics_[0]->done(0, done);
    for (int k = 0; k < 8 && posted_ < messages_; ++k, ++posted_) {
      Work work{};
      work.op = Op::kSend;
      work.cls = MessageClass::kRequest;
      work.flags = kWorkSilent | kWorkCopied;
      const uint64_t every = pair_.fence_every;
      if (every != 0 && posted_ % every == every - 1) work.flags |= kWorkFenced;
      work.peer = 1;
      work.head = head_.data();
      work.head_bytes = 8;
      if (nics_[0]->post(0, {&work, 1}) != 1) break;
    }
    for (; puts_ - puts_done_ < pair_.puts; ++puts_) {
      Work work{};
      work.op = Op::kPut;
      work.peer = 1;
      work.local = memory_[0].data();
      work.local_key = region_[0].local_key;
      work.bytes = memory_[0].size();
      work.remote = region_[1].base;
      work.remote_key = region_[1].remote_key;
      if (nics_[0]->post(0, {&work, 1}) != 1) break;
    }
  }

  PairCase pair_;
  uint64_t messages_;
  Scenario scenario_;
  Schedule schedule_;
  Verdict verdict_{schedule_};
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::byte> memory_[2];
  std::vector<std::unique_ptr<Driver>> nics_;
  Region region_[2]{};
  std::array<std::byte, 8> head_{};
  uint64_t posted_ = 0;
  uint64_t got_ = 0;
  uint64_t puts_ = 0;
  uint64_t puts_done_ = 0;
  uint64_t polls_ = 0;
};

void expect_few_repeats(Pair& pair, const char* what) {
  const uint64_t frames = pair.stat(0, "frames_sent");
  const uint64_t repeats = pair.stat(0, "retransmits");
  const uint64_t refused = pair.stat(1, "rx_drop_refused");
  const uint64_t twice = pair.stat(1, "rx_drop_duplicate");
  std::printf("%s: %lu frames, %lu lost, %lu repeats, %lu refused, %lu twice, %lu MiB put\n", what,
              frames, pair.lost(), repeats, refused, twice, pair.puts_done());
  EXPECT_LE((refused + twice) * 100, frames);
  EXPECT_LE(repeats * 100, frames + 100 * pair.lost());
}

class Fences : public testing::TestWithParam<PairCase> {};

TEST_P(Fences, R11RepeatWhatWasLostAndNothingElse) {
  const PairCase& tested = GetParam();
  Pair pair(tested, 1024, 50'000);
  pair.run();
  char what[100];
  std::snprintf(what, sizeof what, "loss %g, delay %lu us, a fence every %u", tested.loss,
                tested.delay_ns / 1000, tested.fence_every);
  expect_few_repeats(pair, what);
}

INSTANTIATE_TEST_SUITE_P(
    Each, Fences,
    testing::Values(PairCase{0, 1'000, 8, 0, 1}, PairCase{0, 10'000, 64, 0, 1},
                    PairCase{1e-3, 1'000, 0, 0, 1}, PairCase{1e-3, 10'000, 0, 0, 1},
                    PairCase{1e-3, 1'000, 64, 0, 1}, PairCase{1e-3, 10'000, 64, 0, 1},
                    PairCase{1e-3, 1'000, 8, 0, 1}, PairCase{1e-3, 10'000, 8, 0, 1},
                    PairCase{1e-2, 1'000, 64, 0, 1}, PairCase{1e-2, 10'000, 64, 0, 1},
                    PairCase{1e-2, 1'000, 8, 0, 1}, PairCase{1e-2, 10'000, 8, 0, 1}));

class PutsBesideRequests : public testing::TestWithParam<PairCase> {};

TEST_P(PutsBesideRequests, R19AreNotRepeatedBecauseRequestsWait) {
  const PairCase& tested = GetParam();
  Pair pair(tested, 256, 20'000);
  pair.run();
  char what[100];
  std::snprintf(what, sizeof what, "delay %lu us, requests taken every %u polls",
                tested.delay_ns / 1000, tested.take_every);
  EXPECT_GT(pair.puts_done(), 10u);
  expect_few_repeats(pair, what);
}

INSTANTIATE_TEST_SUITE_P(Each, PutsBesideRequests,
                         testing::Values(PairCase{0, 1'000, 0, 4, 1}, PairCase{0, 1'000, 0, 4, 50},
                                         PairCase{0, 1'000, 0, 4, 400},
                                         PairCase{0, 10'000, 0, 4, 1},
                                         PairCase{0, 10'000, 0, 4, 50},
                                         PairCase{0, 10'000, 0, 4, 400}));

}  // namespace
}  // namespace pinwire::sim

// As many senders as a large job has, into one receiver: every message arrives exactly once, no
// peer is declared dead, and the memory that the NICs take is printed. Senders are connected to the
// receiver only, because nicfw spends no memory on peers that it was never connected to.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/base/check.h"
#include "tests/sim/client/streams.h"
#include "tests/sim/fabric/broken_driver.h"
#include "tests/sim/fabric/fabric.h"
#include "tests/sim/fabric/nics.h"
#include "tests/support/stat_map.h"

namespace pinwire::sim {
namespace {

constexpr uint32_t kMessages = 8;  ///< of each sender
constexpr uint64_t kMessageBytes = 1000;
constexpr uint32_t kBreakAt = 5;

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t all_pages = 0, resident_pages = 0;
  statm >> all_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Scenario network(uint32_t senders) {
  Scenario scenario = congestion_network(senders + 1, 1514);
  scenario.nic.window_frames = 64;
  scenario.nic.peer_timeout_ns = 1'000'000'000;  // the shortest that a job may choose
  scenario.network_depth = 64;
  return scenario;
}

class Incast final : public EventTarget {
 public:
  explicit Incast(uint32_t senders, Break broken = Break::kNothing)
      : scenario_(network(senders)), broken_(broken) {
    const uint64_t at_first = resident_bytes();
    for (Rank rank = 1; rank <= senders; ++rank) nics_[rank] = nic(rank);
    const uint64_t before_receiver = resident_bytes();
    nics_[0] = nic(0);
    for (Rank rank = 1; rank <= senders; ++rank) connect(0, rank);
    const uint64_t before_connecting = resident_bytes();
    for (Rank rank = 1; rank <= senders; ++rank) connect(rank, 0);
    receiver_bytes_ = before_connecting - before_receiver;
    senders_bytes_ = resident_bytes() - before_connecting + before_receiver - at_first;
    fabric_.on_delivery([](void* self, Rank rank) { static_cast<Incast*>(self)->wake(rank); },
                        this);
    for (Rank rank = 0; rank <= senders; ++rank) poll_at(rank, schedule_.now() + rank % kPollNs);
  }

  /// Runs until all NICs are at rest, or for as long as a job would wait.
  void run() {
    const uint64_t start_ns = schedule_.now();
    while (!at_rest_ && !verdict_.failed() && schedule_.now() < start_ns + kPatienceNs) {
      check(schedule_.step(), "no event is left");
    }
    took_ns_ = arrived_ns_ - start_ns;
    rested_ns_ = schedule_.now() - start_ns;
    EXPECT_FALSE(verdict_.failed()) << verdict_.sentence();
  }

  void fire(uint64_t rank_and_generation) override {
    const auto rank = static_cast<Rank>(rank_and_generation >> 32);
    Sender& sender = ranks_[rank];
    if (sender.generation != static_cast<uint32_t>(rank_and_generation)) return;
    if (rank == 0) return poll_at(0, schedule_.now() + kPollNs + receive() * kHandlerNs);
    sender.interval_ns = send(rank) ? kPollNs : std::min(2 * sender.interval_ns + 1, kIdleNs);
    poll_at(rank, schedule_.now() + sender.interval_ns);
  }

  bool is_at_rest() const { return at_rest_; }
  uint64_t missing() const {
    uint64_t arrived = 0;
    for (const Sender& sender : ranks_) {
      arrived += static_cast<uint64_t>(std::popcount(sender.arrived));
    }
    return uint64_t{kMessages} * (scenario_.ranks - 1) - arrived;
  }
  uint64_t repeated() const { return repeated_; }
  /// Ranks that gave up a peer.
  uint64_t failures() const {
    return static_cast<uint64_t>(std::count_if(
        nics_.begin(), nics_.end(), [](const auto& nic) { return nic->failure() != nullptr; }));
  }
  void print() const {
    const FabricCounts& counts = fabric_.counts();
    const uint32_t senders = scenario_.ranks - 1;
    std::printf(
        "%u:1, %u messages of %lu bytes each: the last after %.1f ms, at rest after %.1f ms; %lu "
        "frames, %lu dropped by the switch, %lu without a buffer, %lu repeats, %lu timeouts\n"
        "resident when connected: the receiver %.1f MB, a sender %.1f KB; at the end all %u ranks "
        "and the simulator %.1f MB\n",
        senders, kMessages, kMessageBytes, static_cast<double>(took_ns_) / 1e6,
        static_cast<double>(rested_ns_) / 1e6, counts.sent, counts.overrun, counts.unbuffered,
        sum("retransmits"), sum("timeouts"), static_cast<double>(receiver_bytes_) / 1e6,
        static_cast<double>(senders_bytes_) / 1e3 / senders, scenario_.ranks,
        static_cast<double>(resident_bytes()) / 1e6);
  }

 private:
  static constexpr uint64_t kPollNs = 300;
  static constexpr uint64_t kIdleNs = 200'000;
  static constexpr uint64_t kHandlerNs = 100;
  static constexpr uint64_t kPatienceNs = 3'000'000'000;

  struct Sender {
    uint64_t arrived = 0;  ///< bit i: its message i arrived
    uint64_t interval_ns = 0;
    uint32_t posted = 0;
    uint32_t generation = 0;
    bool is_drained = false;
  };

  /// The receiver and one sender break their promises, if any do.
  std::unique_ptr<Driver> nic(Rank rank) {
    auto whole = open_nic(scenario_, rank, fabric_, schedule_);
    if (broken_ == Break::kNothing || rank > 1) return whole;
    return std::make_unique<BrokenDriver>(std::move(whole), broken_, kBreakAt);
  }
  void connect(Rank rank, Rank peer) {
    check(nics_[rank]->connect(peer, nics_[peer]->address()).ok(), "connect");
  }
  void poll_at(Rank rank, uint64_t time_ns) {
    schedule_.at(time_ns, *this, uint64_t{rank} << 32 | ++ranks_[rank].generation);
  }
  void wake(Rank rank) {
    Sender& sender = ranks_[rank];
    if (rank == 0 || sender.interval_ns <= kPollNs) return;
    sender.interval_ns = kPollNs;
    poll_at(rank, schedule_.now() + kPollNs);
  }

  /// Returns how many messages came.
  uint32_t receive() {
    std::array<Recv, 32> messages;
    const uint32_t count = nics_[0]->recv(0, RecvFilter::kAll, messages);
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t number;
      std::memcpy(&number, messages[i].data, sizeof number);
      uint64_t& arrived = ranks_[messages[i].peer].arrived;
      repeated_ += arrived >> number & 1;
      arrived |= uint64_t{1} << number;
    }
    nics_[0]->give_back(0, {messages.data(), count});
    arrived_ += count;
    if (count != 0) arrived_ns_ = schedule_.now();
    const bool all = arrived_ >= uint64_t{kMessages} * (scenario_.ranks - 1);
    at_rest_ = all && drained_ == scenario_.ranks - 1 && nics_[0]->drained(0);
    return count;
  }

  bool send(Rank rank) {
    Sender& sender = ranks_[rank];
    std::array<Recv, 1> none;
    check(nics_[rank]->recv(0, RecvFilter::kAll, none) == 0, "nobody sends to a sender");
    const uint32_t before = sender.posted;
    while (sender.posted < kMessages && post(rank, sender.posted) == 1) ++sender.posted;
    const bool is_drained = sender.posted == kMessages && nics_[rank]->drained(0);
    if (is_drained && !sender.is_drained) ++drained_;
    if (!is_drained && sender.is_drained) --drained_;
    sender.is_drained = is_drained;
    return sender.posted != before;
  }
  uint32_t post(Rank rank, uint64_t number) {
    Work work{};
    work.op = Op::kSend;
    work.cls = MessageClass::kRequest;
    work.flags = kWorkSilent | kWorkCopied;
    work.head = &number;
    work.head_bytes = sizeof number;
    work.local = payload_.data();
    work.bytes = payload_.size();
    return nics_[rank]->post(0, {&work, 1});
  }

  uint64_t sum(const char* name) const {
    uint64_t sum = 0;
    for (const auto& nic : nics_) sum += stat_of(*nic, name);
    return sum;
  }

  Scenario scenario_;
  Break broken_;
  Schedule schedule_;
  Verdict verdict_{schedule_};
  Fabric fabric_{scenario_, schedule_, verdict_};
  std::array<std::byte, kMessageBytes> payload_{};
  std::vector<std::unique_ptr<Driver>> nics_{scenario_.ranks};
  std::vector<Sender> ranks_{scenario_.ranks};
  uint64_t arrived_ = 0;
  uint64_t repeated_ = 0;  ///< messages that arrived more than once
  uint64_t arrived_ns_ = 0;
  uint64_t took_ns_ = 0;
  uint64_t rested_ns_ = 0;
  uint64_t receiver_bytes_ = 0;
  uint64_t senders_bytes_ = 0;
  uint32_t drained_ = 0;  ///< senders
  bool at_rest_ = false;
};

class IncastOfMany : public testing::TestWithParam<uint32_t> {};

TEST_P(IncastOfMany, BringsEachMessageOnceAndDeclaresNobodyDead) {
  const auto incast = std::make_unique<Incast>(GetParam());
  incast->run();
  incast->print();
  EXPECT_TRUE(incast->is_at_rest());
  EXPECT_EQ(incast->missing(), 0u);
  EXPECT_EQ(incast->repeated(), 0u);
  EXPECT_EQ(incast->failures(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Senders, IncastOfMany, testing::Values(1'023, 10'239),
                         testing::PrintToStringParamName());

/// The test above would see NICs that break their promises.
TEST(Incast, SeesMissingAndRepeatedMessagesAndPeersDeclaredDead) {
  constexpr uint32_t kFew = 15;
  Incast drops(kFew, Break::kDropMessage);
  drops.run();
  EXPECT_FALSE(drops.is_at_rest());
  EXPECT_EQ(drops.missing(), 1u);
  Incast repeats(kFew, Break::kTakeRefused);
  repeats.run();
  EXPECT_EQ(repeats.repeated(), 1u);
  Incast kills(kFew, Break::kDeclareDead);
  kills.run();
  EXPECT_EQ(kills.failures(), 1u);
}

}  // namespace
}  // namespace pinwire::sim

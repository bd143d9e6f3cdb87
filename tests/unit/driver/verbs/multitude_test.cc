// 4,096 peers of one rank that stays connected to 64 (GASNET_QP_MAX): the production driver against
// light ones, twice to each. Its queue pairs are never more than the bound allows, every message
// and put comes exactly once, and whoever was used least recently goes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "driver/checked.h"
#include "driver/verbs/driver.h"
#include "tests/support/stat_map.h"
#include "tests/support/verbs/fake_verbs.h"
#include "tests/unit/driver/verbs/light_peers.h"

namespace pinwire {
namespace {

constexpr Rank kRanks = 4097;  // 4,096 peers
constexpr uint32_t kPeersMax = 64;
constexpr uint64_t kJobKey = 9;
constexpr uint64_t kMark = 0x5ca1ab1e'0000'0000u;

class Multitude : public testing::Test {
 protected:
  static constexpr uint32_t kTurnsMax = 5'000;
  using Head = LightPeers::Head;

  void SetUp() override {
    if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "connections keep their buffers";
    // Other tests look at what sources and buffers hold meanwhile.
    fabric_.set_strictness(
        {.stable_sources = false, .poisoned_receives = false, .late_reads = false});
    fabric_.add(fake_verbs::infiniband("one", 1));
    fabric_.add(fake_verbs::infiniband("many", 2));
    peers_ = std::make_unique<LightPeers>(
        "many", kRanks, kJobKey,
        LightPeers::Events{[this](Rank rank) { expect_least_recently_used(rank); },
                           [this](Rank rank) { note_closed(rank); },
                           [this](Rank rank, const Head& head, MessageClass cls) {
                             note_message(rank, head, cls);
                           }});
    VerbsOptions options;
    options.device = "one";
    options.connects_in_polls = true;
    options.peers_max = kPeersMax;
    auto made = make_verbs_driver(options);
    ASSERT_TRUE(made.ok()) << made.sentence();
    driver_ = make_checked(std::move(*made));
    const Status opened =
        driver_->open({.rank = 0, .rank_count = kRanks, .job_key = kJobKey, .network_depth = 32});
    ASSERT_TRUE(opened.ok()) << opened.sentence();
    peers_->connect(driver_->address());
    const auto address = peers_->address();
    for (Rank rank = 1; rank < kRanks; ++rank) ASSERT_TRUE(driver_->connect(rank, address).ok());
  }
  void TearDown() override {
    driver_.reset();
    peers_.reset();
    EXPECT_EQ(fabric_.live(), std::vector<std::string>());
    EXPECT_EQ(fabric_.violations(), std::vector<std::string>());
  }

  /// Rank 0 keeps account of its dealings with each peer.
  struct Dealings {
    uint64_t used_at = 0;  ///< as the driver counts
    uint64_t requests = 0, handled = 0, answered = 0, puts = 0, puts_done = 0;
    uint64_t calls = 0, calls_handled = 0, calls_answered = 0;
    uint64_t closed = 0;
    bool is_asked = false;
  };

  void note_use(Rank rank) { with_[rank].used_at = ++uses_; }
  /// No rank that is connected and was not asked before has been unused for longer.
  void expect_least_recently_used(Rank rank) {
    if (std::exchange(with_[rank].is_asked, true)) return;
    for (const Rank other : connected_) {
      if (with_[other].is_asked) continue;
      ASSERT_LE(with_[rank].used_at, with_[other].used_at)
          << "rank " << rank << " is to go before " << other;
    }
    ++asked_;
  }
  void note_closed(Rank rank) {
    ++with_[rank].closed;
    with_[rank].is_asked = false;
    ASSERT_EQ(std::erase(connected_, rank), 1u);
  }
  void note_message(Rank rank, const Head& head, MessageClass cls) {
    Dealings& with = with_[rank];
    EXPECT_EQ(head.rank, rank);
    uint64_t& count = cls == MessageClass::kRequest ? with.handled : with.calls_answered;
    EXPECT_EQ(head.number, ++count) << "of rank " << rank;
  }

  void turn() {
    Recv batch[32];
    const uint32_t count = driver_->recv(0, RecvFilter::kAll, batch);
    for (uint32_t i = 0; i < count; ++i) take(batch[i]);
    // Handlers of requests may reply while the buffers are still held.
    driver_->give_back(0, {batch, count});
    Done done[32];
    const uint32_t ready = driver_->done(0, done);
    for (uint32_t i = 0; i < ready; ++i) expect_put(done[i]);
    std::erase_if(replies_, [&](const Head& head) { return send(head, MessageClass::kReply); });
    peers_->turn();
    note_connected();
    ASSERT_EQ(driver_->failure(), nullptr) << driver_->failure()->sentence;
  }
  void take(const Recv& message) {
    note_use(message.peer);
    Head head;
    ASSERT_EQ(message.bytes, sizeof head);
    std::memcpy(&head, message.data, sizeof head);
    EXPECT_EQ(head.rank, message.peer);
    Dealings& with = with_[message.peer];
    const bool is_reply = message.cls == MessageClass::kReply;
    EXPECT_EQ(head.number, ++(is_reply ? with.answered : with.calls_handled));
    if (!is_reply) replies_.push_back(head);
  }
  /// The word is cleared, so that a put that comes a second time is seen at the end.
  void expect_put(const Done& done) {
    EXPECT_EQ(done.status, WorkStatus::kOk);
    const auto rank = static_cast<Rank>(done.cookie);
    EXPECT_EQ(std::exchange(peers_->word(rank), 0), kMark + rank + with_[rank].puts);
    ++with_[rank].puts_done;
  }
  /// The driver has just admitted them.
  void note_connected() {
    for (const Rank rank : visited_) {
      const bool is_known = std::ranges::find(connected_, rank) != connected_.end();
      if (is_known || !peers_->is_connected(rank)) continue;
      connected_.push_back(rank);
      with_[rank].used_at = std::max(with_[rank].used_at, uses_);
    }
    ASSERT_LE(connected_.size(), kPeersMax);
  }

  bool post(const Work& work) {
    if (driver_->post(0, {&work, 1}) != 1) return false;
    note_use(work.peer);
    return true;
  }
  bool send(const Head& head, MessageClass cls) {
    Work work{};
    work.op = Op::kSend;
    work.cls = cls;
    work.flags = kWorkCopied | kWorkSilent;
    work.head_bytes = sizeof head;
    work.head = &head;
    work.peer = static_cast<Rank>(head.rank);
    return post(work);
  }
  bool put(Rank rank) {
    const uint64_t value = kMark + rank + with_[rank].puts + 1;
    Work work{};
    work.op = Op::kPut;
    work.cls = MessageClass::kReply;
    work.flags = kWorkCopied;
    work.peer = rank;
    work.cookie = rank;
    work.local = const_cast<uint64_t*>(&value);
    work.bytes = sizeof value;
    work.remote = peers_->word_address(rank);
    work.remote_key = peers_->words_key();
    return post(work);
  }

  /// A request and a put to each, or its call; until all that has ended.
  void visit(std::span<const Rank> ranks, uint64_t round) {
    visited_ = ranks;
    for (const Rank rank : ranks) {
      if (calls(rank)) peers_->call(rank), ++with_[rank].calls;
    }
    for (uint32_t turns = 0; !have_ended(ranks, round); ++turns) {
      ASSERT_LT(turns, kTurnsMax) << "round " << round;
      for (const Rank rank : ranks) {
        Dealings& with = with_[rank];
        if (calls(rank)) continue;
        if (with.requests < round) with.requests += send({rank, round}, MessageClass::kRequest);
        if (with.puts < round && with.requests == round) with.puts += put(rank);
      }
      ASSERT_NO_FATAL_FAILURE(turn());
    }
  }
  static bool calls(Rank rank) { return rank % 8 == 0; }
  bool have_ended(std::span<const Rank> ranks, uint64_t round) const {
    return std::ranges::all_of(ranks, [&](Rank rank) {
      const Dealings& with = with_[rank];
      return calls(rank) ? with.calls_answered == round
                         : with.answered == round && with.puts_done == round;
    });
  }
  uint64_t stat(const char* name) { return stat_of(*driver_, name); }

  fake_verbs::Fabric fabric_;
  std::unique_ptr<LightPeers> peers_;
  std::unique_ptr<Driver> driver_;
  std::vector<Dealings> with_ = std::vector<Dealings>(kRanks);
  std::vector<Rank> connected_;
  std::span<const Rank> visited_;
  std::vector<Head> replies_;  ///< that found no room
  uint64_t uses_ = 0, asked_ = 0;
};

TEST_F(Multitude, OfPeersTakesTurnsOnFewConnections) {
  constexpr size_t kAtOnce = 16;
  constexpr uint64_t kRounds = 2;
  std::vector<Rank> order(kRanks - 1);
  std::iota(order.begin(), order.end(), Rank{1});
  std::mt19937_64 random(kRanks);
  for (uint64_t round = 1; round <= kRounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    // Last, those that are connected still: each visit finds a newcomer.
    std::stable_partition(order.begin(), order.end(),
                          [&](Rank rank) { return !peers_->is_connected(rank); });
    for (size_t at = 0; at < order.size(); at += kAtOnce) {
      ASSERT_NO_FATAL_FAILURE(visit(std::span(order).subspan(at, kAtOnce), round));
    }
  }
  ASSERT_TRUE(fabric_.run());
  for (Rank rank = 1; rank < kRanks; ++rank) {
    const Dealings& with = with_[rank];
    ASSERT_EQ(calls(rank) ? with.calls_handled : with.handled, kRounds) << rank;
    ASSERT_EQ(peers_->word(rank), 0u) << "a put came twice to rank " << rank;
    const bool is_connected = std::ranges::find(connected_, rank) != connected_.end();
    ASSERT_EQ(with.closed, kRounds - is_connected) << rank;
  }
  const uint64_t kVisits = kRounds * (kRanks - 1);
  EXPECT_EQ(fabric_.connections_max("one"), 2 * kPeersMax);
  EXPECT_EQ(stat("peers_over_bound"), 0u);
  EXPECT_EQ(stat("connections_closed"), 2 * (kVisits - kPeersMax));
  EXPECT_EQ(stat("connections_made_anew"), 2 * (kRanks - 1));
  EXPECT_EQ(peers_->hellos(), kVisits / 8) << "none had to be repeated";
  EXPECT_GT(peers_->late_hellos(), 0u);
  EXPECT_EQ(stat("greetings_ignored"), peers_->late_hellos());
  EXPECT_EQ(asked_, kVisits - kPeersMax);
  std::printf("%llu ticks, %llu greetings, %llu closings refused\n",
              static_cast<unsigned long long>(fabric_.ticks()),
              static_cast<unsigned long long>(stat("greetings_sent")),
              static_cast<unsigned long long>(stat("closings_refused")));
}

}  // namespace
}  // namespace pinwire

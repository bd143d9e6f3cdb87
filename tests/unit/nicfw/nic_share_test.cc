// One silent peer takes nothing from the others: shares of the lane's pools, and turns of flows.
// Cases are findings R4, R4b, R4d, R17, R18, R24 and R26.
#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "nicfw/pool/pool_share.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

class SilentPeers {
 public:
  /// Ranks 1 to `ranks` - 2 compute, the last one is attentive.
  explicit SilentPeers(uint32_t ranks, uint32_t silent)
      : silent_(silent),
        attentive_(ranks - 1),
        group_({.ranks = ranks, .rx_buffers = 1024}),
        region_(group_.pin(attentive_, &target_, sizeof target_)) {}

  /// A long put to each silent peer, as much of it on its way as they take.
  void fill() {
    for (Rank r = 1; r <= silent_; ++r) {
      const Region region = group_.pin(r, large_target_.data(), large_target_.size());
      for (int i = 0; i < 3; ++i) {
        group_.post(
            0, put_work(r, large_.data(), large_.size(), large_target_.data(), region.remote_key));
      }
    }
    for (int i = 0; i < 200; ++i) step();
  }
  void step() {
    group_.poll(0);
    group_.poll(attentive_);
    group_.clock().advance(1'000);
  }
  /// Virtual time from the post of 8 bytes to the attentive rank to their Done.
  uint64_t small_put_ns() {
    const uint64_t source = 9;
    uint64_t steps = 0;
    const auto put = put_work(attentive_, &source, sizeof source, &target_, region_.remote_key);
    for (bool posted = false; steps < 100'000; ++steps) {
      posted = posted || group_.post(0, put);
      step();
      if (!group_.dones(0).empty()) break;
    }
    return steps * 1'000;
  }
  NicGroup& group() { return group_; }
  Rank attentive() const { return attentive_; }

 private:
  std::vector<uint8_t> large_ = byte_pattern(1 << 20);
  std::vector<uint8_t> large_target_ = std::vector<uint8_t>(1 << 20);
  uint64_t target_ = 0;
  uint32_t silent_;
  Rank attentive_;
  NicGroup group_;
  Region region_;
};

TEST(NicShare, R4bAnEightBytePutTakesAtMostTwiceItsTimeBesideAnyNumberOfSilentPeers) {
  for (const uint32_t ranks : {5u, 32u, 256u}) {
    SilentPeers alone(ranks, 0);
    alone.small_put_ns();
    const uint64_t alone_ns = alone.small_put_ns();
    SilentPeers beside(ranks, ranks - 2);
    beside.fill();
    for (int i = 0; i < 20; ++i) {
      EXPECT_LE(beside.small_put_ns(), 2 * alone_ns) << ranks << " ranks, put " << i;
    }
  }
}

TEST(NicShare, R4dRepliesAndRequestsGoWhileAllOthersCompute) {
  for (const uint32_t ranks : {5u, 32u, 256u}) {
    SilentPeers beside(ranks, ranks - 2);
    beside.fill();
    for (const auto cls : {MessageClass::kReply, kRequest}) {
      uint32_t accepted = 0;
      for (int i = 0; i < 50; ++i) {
        accepted += beside.group().post(0, send_work(beside.attentive(), cls, &kWord, 8)) ? 1 : 0;
        for (int k = 0; k < 4; ++k) beside.step();
      }
      EXPECT_EQ(accepted, 50u) << ranks << " ranks";
    }
  }
}

/// A Medium whose payload is copied at once: it takes a large buffer.
Work medium(Rank to, const std::vector<uint8_t>& payload, uint64_t bytes) {
  Work work = send_work(to, kRequest, &kWord, sizeof kWord);
  work.flags = kWorkSilent | kWorkCopied;
  work.local = const_cast<uint8_t*>(payload.data());
  work.bytes = bytes;
  return work;
}
Work medium(Rank to, const std::vector<uint8_t>& payload) {
  return medium(to, payload, payload.size());
}

TEST(NicShare, R4MediumsToASilentPeerLeaveBuffersToOthers) {
  NicGroup group({.ranks = 3, .rx_buffers = 1024, .network_depth = 256});
  const std::vector<uint8_t> payload(1'000, 7);
  for (int i = 0; i < 2'000; ++i) {
    group.post(0, medium(1, payload));
    group.poll(0);
    group.clock().advance(1'000);
  }
  uint32_t accepted = 0;
  uint32_t delivered = 0;
  for (int i = 0; i < 1'000; ++i) {
    accepted += group.post(0, medium(2, payload)) ? 1 : 0;
    group.poll(0);
    delivered += static_cast<uint32_t>(group.poll(2).size());
    group.clock().advance(5'000);
  }
  EXPECT_EQ(accepted, 1'000u);
  EXPECT_GE(delivered, 990u);
}

/// Rank 0 and one attentive rank of a job; all other ranks are connected and never poll.
class SilentJob {
 public:
  /// Over a memory medium no congestion window limits what a silent peer holds.
  explicit SilentJob(uint32_t ranks, bool memory_medium = false, const NicConfig& config = {})
      : attentive_(ranks - 1) {
    for (LoopPort* port : {&attentive_port_, &silent_port_}) port->join(port_);
    for (LoopPort* port : {&port_, &attentive_port_, &silent_port_}) {
      port->set_memory_medium(memory_medium);
    }
    nic_ = make_nic(port_, clock_, config);
    peer_ = make_nic(attentive_port_, clock_, {.seed = 2});
    silent_nic_ = make_nic(silent_port_, clock_, {.seed = 3});
    OpenInfo info;
    info.rank_count = ranks;
    info.lanes = 1;
    info.job_key = NicGroup::kJobKey;
    info.network_depth = 256;
    for (Driver* nic : {nic_.get(), peer_.get(), silent_nic_.get()}) {
      info.rank = nic == nic_.get() ? 0 : nic == peer_.get() ? attentive_ : 1;
      EXPECT_TRUE(nic->open(info).ok());
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Driver& there = rank == 0 ? *nic_ : rank == attentive_ ? *peer_ : *silent_nic_;
      EXPECT_TRUE(nic_->connect(rank, there.address()).ok());
      EXPECT_TRUE(peer_->connect(rank, there.address()).ok());
    }
    key_ = peer_->pin(target_.data(), target_.size(), -1, 0).value().remote_key;
  }

  bool post(const Work& work) { return nic_->post(0, {&work, 1}) == 1; }
  void step(uint64_t pause_ns = 1'000) {
    Recv out[64];
    for (Driver* nic : {nic_.get(), peer_.get()}) {
      const uint32_t count = nic->recv(0, RecvFilter::kAll, out);
      if (nic == peer_.get()) delivered_ += count;
      nic->give_back(0, std::span(out, count));
    }
    Done done[64];
    while (const uint32_t count = nic_->done(0, done)) dones_ += count;
    clock_.advance(pause_ns);
  }
  void settle() {
    for (int i = 0; i < 200; ++i) step();
  }
  /// Microseconds until the work is taken and done (or delivered); `limit` or more: it is not.
  uint32_t microseconds(const Work& work, uint32_t limit) {
    const uint64_t before = delivered_ + dones_;
    bool posted = false;
    for (uint32_t steps = 0; steps < limit; ++steps) {
      posted = posted || post(work);
      step();
      if (posted && delivered_ + dones_ != before) return steps + 1;
    }
    return limit;
  }

  Work put(Rank to, uint64_t bytes, uint8_t flags = 0) {
    Work work = put_work(to, source_.data(), bytes, target_.data(), key_);
    work.flags = flags;
    return work;
  }
  Work get(Rank to) { return get_work(to, &word_, sizeof word_, target_.data(), key_); }
  Work atomic(Rank to) { return atomic_work(to, &operands_, &word_, target_.data(), key_); }
  Work send(Rank to, MessageClass cls, uint64_t bytes) {
    Work work = send_work(to, cls, &kWord, sizeof kWord);
    if (bytes != 0) work.flags = kWorkSilent | kWorkCopied;
    work.local = source_.data();
    work.bytes = bytes;
    return work;
  }
  Work put_send(Rank to, MessageClass cls, uint64_t bytes) {
    Work work = put(to, bytes, kWorkCopied | kWorkSilent);
    work.op = Op::kPutSend;
    work.cls = cls;
    work.head = &kWord;
    work.head_bytes = sizeof kWord;
    return work;
  }
  bool drained() const { return nic_->drained(0); }
  Rank attentive() const { return attentive_; }
  uint64_t copied_bytes_max() const { return nic_->caps().copied_bytes_max; }

 private:
  Rank attentive_;
  std::vector<uint8_t> source_ = byte_pattern(1 << 20);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(1 << 20);
  uint64_t word_ = 0;
  AtomicOperands operands_{AtomicCode::kAdd, 1, 0};
  ManualClock clock_;
  LoopPort port_{1, 1514, 1024};
  LoopPort attentive_port_{2, 1514, 1024};
  LoopPort silent_port_{3, 1514, 1024};
  std::unique_ptr<Driver> nic_, peer_, silent_nic_;
  uint32_t key_ = 0;
  uint64_t delivered_ = 0;
  uint64_t dones_ = 0;
};

/// The kinds of work that a test posts to silent ranks.
enum : uint32_t {
  kMediums = 1,
  kShortReplies = 2,
  kCopiedPuts = 4,
  kLongPuts = 8,
  kMediumReplies = 16,
  kGets = 32,
  kLongReplies = 64,
  kAtomics = 128,
  kEverything = 255,
};

/// Offers more gets and atomics than the windows take.
void offer_to_silent_ranks(SilentJob& job, uint32_t kinds) {
  constexpr int kAsks = 16;
  for (int round = 0; round < 60; ++round) {
    for (Rank rank = 1; rank < job.attentive(); ++rank) {
      if (kinds & kMediums) job.post(job.send(rank, kRequest, 1000));
      if (kinds & kShortReplies) job.post(job.send(rank, kReply, 0));
      if (kinds & kMediumReplies) job.post(job.send(rank, kReply, 1000));
      if (kinds & kLongReplies) job.post(job.put_send(rank, kReply, 2000));
      if (kinds & kCopiedPuts) job.post(job.put(rank, 1000, kWorkCopied));
      if (kinds & kLongPuts) job.post(job.put(rank, 1 << 20));
      for (int i = 0; kinds & kGets && i < kAsks; ++i) job.post(job.get(rank));
      for (int i = 0; kinds & kAtomics && i < kAsks; ++i) job.post(job.atomic(rank));
    }
    for (int i = 0; i < 20; ++i) job.step();
  }
}

struct Wanted {
  const char* name;
  Work work;
  bool is_small;  ///< at most twice its time alone; for the others the bound is kTakenUs more
};

std::vector<Wanted> wanted_of(SilentJob& job) {
  const Rank to = job.attentive();
  return {
      {"8-byte put", job.put(to, 8), true},
      {"8-byte get", job.get(to), true},
      {"atomic", job.atomic(to), true},
      {"Short request", job.send(to, kRequest, 0), true},
      {"Short reply", job.send(to, kReply, 0), true},
      {"Medium request", job.send(to, kRequest, 1000), false},
      {"Medium reply", job.send(to, kReply, 1000), false},
      {"copied put of a frame", job.put(to, 1000, kWorkCopied), false},
      {"copied put of two frames", job.put(to, 2000, kWorkCopied), false},
      {"largest copied put", job.put(to, job.copied_bytes_max(), kWorkCopied), false},
      {"long put", job.put(to, 65536), false},
      {"Long request of two frames", job.put_send(to, kRequest, 2000), false},
      {"Long reply of two frames", job.put_send(to, kReply, 2000), false},
      {"largest Long reply", job.put_send(to, kReply, job.copied_bytes_max()), false},
  };
}

/// Ranks, memory medium, kinds.
class NicShareMatrix : public testing::TestWithParam<std::tuple<uint32_t, bool, uint32_t>> {};

/// Traffic to an attentive rank does not wait for those that compute.
TEST_P(NicShareMatrix, AnAttentiveRankGetsEveryKindOfWorkBesideSilentOnes) {
  constexpr uint32_t kTakenUs = 300;
  constexpr uint32_t kLimitUs = 20'000;
  const auto [ranks, memory_medium, kinds] = GetParam();
  SilentJob alone(ranks, memory_medium);
  SilentJob beside(ranks, memory_medium);
  offer_to_silent_ranks(beside, kinds);
  const auto works = wanted_of(beside);
  const auto works_alone = wanted_of(alone);
  for (size_t i = 0; i < works.size(); ++i) {
    const uint32_t alone_us = alone.microseconds(works_alone[i].work, kLimitUs);
    ASSERT_LT(alone_us, kLimitUs) << works[i].name;
    const uint32_t beside_us = beside.microseconds(works[i].work, kLimitUs);
    const uint32_t bound_us = works[i].is_small ? 2 * alone_us : 2 * alone_us + kTakenUs;
    EXPECT_LE(beside_us, bound_us) << works[i].name << ", alone " << alone_us << " us";
    alone.settle();
    beside.settle();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, NicShareMatrix,
    testing::Combine(testing::Values(5, 32, 256), testing::Bool(),
                     testing::Values(kMediums, kCopiedPuts, kLongPuts, kGets, kAtomics,
                                     kShortReplies, kMediumReplies, kLongReplies,
                                     kMediums | kShortReplies, kShortReplies | kLongPuts,
                                     kMediums | kCopiedPuts | kLongPuts | kGets, kEverything)));

/// Small operations collect in a large buffer; without one they go alone.
TEST(NicShare, ASmallPutNeedsNoLargeBuffer) {
  SilentJob job(256, true);
  offer_to_silent_ranks(job, kEverything);
  ASSERT_TRUE(job.post(job.put(job.attentive(), 1'000, kWorkCopied))) << "its own buffer";
  ASSERT_FALSE(job.post(job.put(job.attentive(), 1'000, kWorkCopied)));
  EXPECT_TRUE(job.post(job.put(job.attentive(), 8)));
}

/// A handler waits for its reply to be taken, and what comes after it waits for the handler.
TEST(NicShare, RepliesAreTakenWhateverTheCongestionWindowSays) {
  NicGroup group({.rx_buffers = 1024, .config = {.coalesce = false}});
  uint32_t taken = 0;
  while (taken < 64 && group.post(0, send_work(1, kReply, &kWord, 8))) ++taken;
  EXPECT_EQ(taken, 64u);
}

/// Neither do replies of several frames wait for it. Data of gets would keep a window of one frame
/// full for as long as the peer gets: seed 138 of the simulator's scenario mtushrinks.
TEST(NicShare, RepliesOfSeveralFramesAreTakenWhateverTheCongestionWindowSays) {
  constexpr uint64_t kBytes = 4'000;
  NicGroup group({.rx_buffers = 1024});
  const std::vector<uint8_t> source(kBytes, 7);
  std::vector<uint8_t> target(kBytes);
  const Region region = group.pin(1, target.data(), target.size());
  Work reply = put_work(1, source.data(), kBytes, target.data(), region.remote_key);
  reply.op = Op::kPutSend;
  reply.cls = MessageClass::kReply;
  reply.flags = kWorkCopied | kWorkSilent;
  reply.head = &kWord;
  reply.head_bytes = 8;
  uint32_t taken = 0;
  while (taken < 12 && group.post(0, reply)) ++taken;
  EXPECT_EQ(taken, 12u);
}

/// A peer that was not heard lately is asked whether it is there.
TEST(NicShare, TheFirstWorkForAnAttentiveRankMayBeTheLargestCopiedPut) {
  for (const uint32_t ranks : {32u, 256u}) {
    SilentJob job(ranks, true);
    offer_to_silent_ranks(job, kEverything);
    const Work put = job.put(job.attentive(), job.copied_bytes_max(), kWorkCopied);
    EXPECT_LE(job.microseconds(put, 20'000), 300u) << ranks << " ranks";
  }
}

/// A peer that was heard may take what is kept for attentive peers, and then compute. Bounded
/// memory cannot prevent that; but however many do, one frame of every kind goes to the others.
TEST(NicShare, OneFrameGoesHoweverManyPeersFellSilentInTheMiddleOfACopiedPut) {
  constexpr uint32_t kRanks = 32;
  NicGroup group({.ranks = kRanks, .rx_buffers = 1024, .network_depth = 256});
  const std::vector<uint8_t> source(400'000, 7);
  std::vector<uint8_t> target(400'000);
  const auto put = [&](Rank rank, const Region& region, uint64_t bytes) {
    Work work = put_work(rank, source.data(), bytes, target.data(), region.remote_key);
    work.flags = kWorkCopied;
    return work;
  };
  const auto is_done = [&](Rank rank, const Work& work) {
    bool posted = false;
    for (int i = 0; i < 50; ++i) {
      posted = posted || group.post(0, work);
      group.poll(0);
      const bool delivered = !group.poll(rank).empty();
      if (posted && (delivered || !group.dones(0).empty())) return true;
      group.clock().advance(1'000);
    }
    return false;
  };
  uint32_t taken = 0;
  for (Rank rank = 1; rank < kRanks - 1; ++rank) {
    const Region region = group.pin(rank, target.data(), target.size());
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(is_done(rank, put(rank, region, 1'000))) << "rank " << rank;
    }
    taken += group.post(0, put(rank, region, group.nic(0).caps().copied_bytes_max)) ? 1 : 0;
    group.poll(0);  // from here on the rank computes
  }
  EXPECT_GE(taken, 2u);
  EXPECT_LT(taken, kRanks - 2) << "nothing runs out";
  const Rank last = kRanks - 1;
  const Region region = group.pin(last, target.data(), target.size());
  EXPECT_TRUE(is_done(last, put(last, region, 8)));
  EXPECT_TRUE(is_done(last, put(last, region, 1'000)));
  EXPECT_TRUE(is_done(last, send_work(last, kRequest, &kWord, 8)));
  EXPECT_TRUE(is_done(last, send_work(last, kReply, &kWord, 8)));
  EXPECT_TRUE(is_done(last, medium(last, source, 1'000)));
}

/// R24 (GEX_FLAG_IMMEDIATE): a post that was refused leaves nothing behind, so that the lane rests
/// when what was taken has ended. Here large buffers run out: in a job of more ranks than have own
/// ones, a flow that holds nothing is refused, too.
TEST(NicShare, R24APostRefusedForABufferLeavesNothingBehind) {
  SilentJob job(kIdleBufferHoldersMax + 100, false, {.peer_timeout_ns = 100'000'000});
  const auto works_for = [&](Rank to) {
    return std::array{job.send(to, kReply, 1'000), job.put(to, 1'000, kWorkCopied),
                      job.send(to, kRequest, 1'000)};
  };
  for (Rank rank = 1; rank < job.attentive(); ++rank) {
    for (const Work& work : works_for(rank)) {
      for (int i = 0; i < 4 && job.post(work); ++i) {
      }
    }
  }
  for (const Work& work : works_for(job.attentive())) ASSERT_FALSE(job.post(work));
  for (int i = 0; i < 1'000; ++i) job.step(1'000'000);  // the silent ranks are given up
  EXPECT_TRUE(job.drained());
  uint32_t accepted = 0;  // R26
  for (int i = 0; i < 100; ++i) {
    accepted += job.post(job.send(job.attentive(), kRequest, 0)) ? 1 : 0;
    job.step();
  }
  EXPECT_GE(accepted, 95u);  // all but those that waited for the first credit
}

/// The same for a post that lacks credit, in a flow whose frames are all acknowledged.
TEST(NicShare, R24APostRefusedForCreditLeavesNothingBehind) {
  NicGroup group({.rx_buffers = 16, .network_depth = 2, .config = {.coalesce = false}});
  fill_with_requests(group);
  if (HasFatalFailure()) return;
  for (int i = 0; i < 100; ++i) {
    group.poll(1, RecvFilter::kRepliesOnly);
    group.poll(0);
    group.clock().advance(10'000);
  }
  ASSERT_FALSE(group.post(0, send_work(1, kRequest, &kWord, 8)));
  for (int i = 0; i < 10; ++i) {
    group.poll(1, RecvFilter::kRepliesOnly);
    group.poll(0);
  }
  EXPECT_TRUE(group.nic(0).drained(0));
}

TEST(NicTurns, R17LargeGetsOfOnePeerDoNotHoldUpAnother) {
  NicGroup group({.ranks = 3, .rx_buffers = 1024});
  std::vector<uint8_t> source(1 << 20);
  std::vector<uint8_t> fetched(1 << 20);
  const Region region = group.pin(0, source.data(), source.size());
  uint32_t outstanding = 0;
  const auto round = [&] {
    const Work get = get_work(0, fetched.data(), fetched.size(), source.data(), region.remote_key);
    while (outstanding < 600 && group.post(1, get)) ++outstanding;
    group.poll(0);
    for (Rank r = 1; r < 3; ++r) group.poll(r);
    outstanding -= static_cast<uint32_t>(group.dones(1).size());
    group.clock().advance(1'000);
  };
  for (int i = 0; i < 200; ++i) round();
  for (int small = 0; small < 10; ++small) {
    uint64_t word = 0;
    ASSERT_TRUE(group.post(2, get_work(0, &word, 8, source.data(), region.remote_key)));
    uint32_t rounds = 0;
    for (; rounds < 10'000 && group.dones(2).empty(); ++rounds) round();
    EXPECT_LE(rounds, 40u) << "the 8 bytes waited for the other peer's megabytes";
  }
}

TEST(NicShare, R17GetsOfAPeerThatThenComputesLeaveResponsesToOthers) {
  NicGroup group(
      {.ranks = 3, .rx_buffers = 1024, .network_depth = 256, .config = {.coalesce = false}});
  std::vector<uint8_t> source(1 << 20);
  std::vector<uint8_t> fetched(1 << 20);
  const Region region = group.pin(0, source.data(), source.size());
  for (int i = 0; i < 5'000; ++i) {  // rank 1 asks for ever more; nothing of it arrives
    group.post(1, get_work(0, fetched.data(), fetched.size(), source.data(), region.remote_key));
    for (uint32_t k = 0; k < group.port(1).waiting(); ++k) {
      const auto frame = group.port(1).peek(k);
      if (frame.size() > 256) frame[100] ^= std::byte{1};
    }
    group.poll(1);
    group.poll(0);
    group.clock().advance(20'000);
  }
  for (int small = 0; small < 10; ++small) {
    uint64_t word = 0;
    ASSERT_TRUE(group.post(2, get_work(0, &word, 8, source.data(), region.remote_key)));
    uint32_t rounds = 0;
    for (; rounds < 100 && group.dones(2).empty(); ++rounds) {
      group.poll(0);
      group.poll(2);
      group.clock().advance(1'000);
    }
    EXPECT_LE(rounds, 4u);
  }
}

TEST(NicTurns, R18LongPutsLeaveFramesToASmallOneOfAnotherThread) {
  for (const uint32_t window : {4u, 256u}) {
    NicGroup group({.rx_buffers = 1024, .config = {.window_frames = window}});
    const auto source = byte_pattern(1 << 20);
    std::vector<uint8_t> target(source.size());
    const Region region = group.pin(1, target.data(), target.size());
    const auto put = [&](uint64_t bytes) {
      return put_work(1, source.data(), bytes, target.data(), region.remote_key);
    };
    uint64_t longs = 0;
    uint32_t outstanding = 0;
    for (int small = 0; small < 20; ++small) {
      int rounds = 0;
      for (bool taken = false; rounds < 1'000 && !taken; ++rounds) {
        while (outstanding < 8 && group.post(0, put(source.size()))) ++outstanding;
        taken = group.post(0, put(8));
        outstanding += taken ? 1 : 0;
        group.poll(1);
        group.poll(0);
        outstanding -= static_cast<uint32_t>(group.dones(0).size());
        group.clock().advance(1'000);
      }
      EXPECT_LE(rounds, 8) << "window " << window << ", small put " << small;
    }
    for (int i = 0; i < 2'000; ++i) {
      group.poll(1);
      group.poll(0);
      longs += group.dones(0).size();
      group.clock().advance(1'000);
    }
    EXPECT_GT(longs, 0u) << "the small ones must not stop the long ones";
  }
}

}  // namespace
}  // namespace pinwire

// Devices that have too little: refused at start with numbers; or little, but enough.
#include <memory>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class Needs : public testing::Test {
 protected:
  ~Needs() override {
    ranks_.clear();
    EXPECT_EQ(fabric_.live(), std::vector<std::string>());
    EXPECT_EQ(fabric_.violations(), std::vector<std::string>());
  }
  /// A rank of `count`, on a device of its own.
  Status add_rank(const fake_verbs::HcaSpec& spec, Rank rank, Rank count, uint32_t lanes = 1) {
    fabric_.add(spec);
    VerbsOptions options;
    options.device = spec.name;
    options.connects_in_polls = true;
    auto made = make_verbs_driver(options);
    if (!made) return made.error();
    ranks_.push_back(make_checked(std::move(*made)));
    return ranks_.back()->open(
        {.rank = rank, .rank_count = count, .lanes = lanes, .job_key = 77, .network_depth = 32});
  }
  void connect_all() {
    const auto count = static_cast<Rank>(ranks_.size());
    for (Rank rank = 0; rank < count; ++rank) {
      for (Rank peer = 0; peer < count; ++peer) {
        if (peer == rank) continue;
        ASSERT_TRUE(ranks_[rank]->connect(peer, ranks_[peer]->address()).ok());
      }
    }
  }
  void turn(Rank rank) {
    Recv batch[8];
    const uint32_t count = ranks_[rank]->recv(0, RecvFilter::kAll, batch);
    arrived_ += count;
    for (const MessageClass cls : {MessageClass::kReply, MessageClass::kRequest}) {
      for (uint32_t i = 0; i < count; ++i)
        if (batch[i].cls == cls) ranks_[rank]->give_back(0, {&batch[i], 1});
    }
    Done done[8];
    ranks_[rank]->done(0, done);
  }

  fake_verbs::Fabric fabric_;
  std::vector<std::unique_ptr<Driver>> ranks_;
  uint64_t arrived_ = 0;
};

struct Lack {
  const char* name;
  int ibv_device_attr::*limit;
  int has;
  const char* sentence;
};
class TooLittle : public Needs, public testing::WithParamInterface<Lack> {};

TEST_P(TooLittle, IsRefusedAtStartWithNumbers) {
  const bool is_of_shared = GetParam().limit == &ibv_device_attr::max_srq ||
                            GetParam().limit == &ibv_device_attr::max_srq_wr;
  if (is_of_shared && !fake_verbs::has_shared_receives()) GTEST_SKIP() << "it needs none";
  auto spec = fake_verbs::roce("small", 1);
  spec.limits.*GetParam().limit = GetParam().has;
  const Status opened = add_rank(spec, 0, 100, 5);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.sentence().find(GetParam().sentence), std::string::npos) << opened.sentence();
  std::printf("%s\n", opened.sentence().c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TooLittle,
    testing::Values(
        Lack{"QueuePairs", &ibv_device_attr::max_qp, 10,
             "small has 10 queue pairs, this rank needs at least 11 with 5 lanes"},
        Lack{"CompletionQueues", &ibv_device_attr::max_cq, 10, "10 completion queues"},
        Lack{"SharedReceiveQueues", &ibv_device_attr::max_srq, 9, "9 shared receive queues"},
        Lack{"MemoryRegions", &ibv_device_attr::max_mr, 20, "20 memory regions"},
        Lack{"Requests", &ibv_device_attr::max_qp_wr, 16, "holds 16 requests in a queue pair"},
        Lack{"Completions", &ibv_device_attr::max_cqe, 100,
             "holds 100 entries in a completion queue"},
        Lack{"Receives", &ibv_device_attr::max_srq_wr, 16,
             "holds 16 buffers in a shared receive queue"}),
    [](const auto& at) { return std::string(at.param.name); });

/// A device may answer more reads at once than it may have under way itself.
TEST_F(Needs, FewReadsOfItsOwnUnderWayAreEnough) {
  constexpr uint64_t kReads = 40;
  for (Rank rank = 0; rank < 2; ++rank) {
    auto spec = fake_verbs::roce("host" + std::to_string(rank), static_cast<uint8_t>(rank + 1));
    spec.limits.max_qp_init_rd_atom = 2;
    ASSERT_TRUE(add_rank(spec, rank, 2).ok());
  }
  connect_all();
  std::vector<uint64_t> words(2 * kReads, 7);
  auto region = ranks_[0]->pin(words.data(), words.size() * sizeof words[0], -1, 0);
  auto there = ranks_[1]->pin(words.data(), words.size() * sizeof words[0], -1, 0);
  ASSERT_TRUE(region.ok() && there.ok());
  for (uint64_t i = 0, turns = 0; i < kReads; ++turns) {
    ASSERT_LT(turns, 20'000u) << "no connection";
    Work get{};
    get.op = Op::kGet;
    get.peer = 1;
    get.local = &words[i];
    get.local_key = region->local_key;
    get.bytes = sizeof words[0];
    get.remote = reinterpret_cast<uint64_t>(&words[kReads + i]);
    get.remote_key = there->remote_key;
    i += ranks_[0]->post(0, {&get, 1});
    turn(0);
    turn(1);
    ASSERT_EQ(ranks_[0]->failure(), nullptr) << ranks_[0]->failure()->sentence;
  }
  EXPECT_TRUE(fabric_.run());
  while (!ranks_[0]->drained(0)) turn(0);
}

TEST_F(Needs, SilentWorkForManyPeersNeverFillsASmallCompletionQueue) {
  constexpr Rank kRanks = 24;
  constexpr uint64_t kEach = 40;
  const int completions = fake_verbs::has_shared_receives() ? 128 : 18 * kRanks;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    auto spec = fake_verbs::roce("host" + std::to_string(rank), static_cast<uint8_t>(rank + 1));
    spec.limits.max_cqe = completions;
    const Status opened = add_rank(spec, rank, kRanks);
    ASSERT_TRUE(opened.ok()) << opened.sentence();
  }
  connect_all();
  const uint64_t head = 5;
  std::vector<uint64_t> sent(kRanks);
  const uint64_t all = (kRanks - 1) * kEach;
  for (uint32_t turns = 0; arrived_ != all; ++turns) {
    ASSERT_LT(turns, 20'000u) << arrived_ << " of " << all;
    for (Rank peer = 1; peer < kRanks; ++peer) {
      Work work{};
      work.op = Op::kSend;
      work.flags = kWorkCopied | kWorkSilent;
      work.head_bytes = sizeof head;
      work.head = &head;
      work.peer = peer;
      if (sent[peer] < kEach) sent[peer] += ranks_[0]->post(0, {&work, 1});
    }
    for (Rank rank = 0; rank < kRanks; ++rank) turn(rank);
  }
}

}  // namespace
}  // namespace pinwire

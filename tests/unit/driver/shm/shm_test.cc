#include "driver/shm/shm.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/scatter_list.h"

namespace pinwire {
namespace {

/// Two ranks of the shm driver in one process; each maps the other's inbox as a peer would.
class ShmPair : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    for (Rank rank = 0; rank < 2; ++rank) {
      drivers[rank] = make_shm_driver(1024);
      OpenInfo info;
      info.rank = rank;
      info.rank_count = 2;
      info.network_depth = 2;
      info.concurrent = GetParam();
      ASSERT_TRUE(drivers[rank]->open(info).ok());
    }
    for (Rank rank = 0; rank < 2; ++rank) {
      ASSERT_TRUE(drivers[rank]->connect(1 - rank, drivers[1 - rank]->address()).ok());
      drivers[rank]->map_peer_region(1 - rank, kBase, sizeof memory[0], memory[1 - rank]);
    }
  }

  static constexpr uint64_t kBase = 0x70000000;  // the peers' addresses are not ours

  Work one_sided(Op op, void* local, uint64_t bytes, uint64_t offset) {
    Work work{};
    work.op = op;
    work.peer = 1;
    work.cookie = ++cookie;
    work.local = local;
    work.bytes = bytes;
    work.remote = kBase + offset;
    return work;
  }
  WorkStatus finish() {
    Done done{};
    EXPECT_EQ(drivers[0]->done(0, {&done, 1}), 1u);
    EXPECT_EQ(done.cookie, cookie);
    return done.status;
  }

  std::unique_ptr<ShmDriver> drivers[2];
  alignas(64) std::byte memory[2][4096] = {};
  uint64_t cookie = 0;
};

TEST_P(ShmPair, SendArrivesWithHeadAndPayload) {
  alignas(8) const char head[16] = "fifteen letters";
  char payload[100];
  std::memset(payload, 'p', sizeof payload);
  Work work{};
  work.op = Op::kSend;
  work.cls = MessageClass::kReply;
  work.flags = kWorkCopied | kWorkSilent;
  work.head_bytes = sizeof head;
  work.peer = 1;
  work.head = head;
  work.local = payload;
  work.bytes = sizeof payload;
  EXPECT_TRUE(drivers[1]->idle(0));
  ASSERT_EQ(drivers[0]->post(0, {&work, 1}), 1u);
  EXPECT_FALSE(drivers[1]->idle(0));
  Recv got[4];
  ASSERT_EQ(drivers[1]->recv(0, RecvFilter::kRepliesOnly, got), 1u);
  EXPECT_EQ(got[0].peer, 0u);
  EXPECT_EQ(got[0].bytes, 116u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(got[0].data) % 16, 8u);
  EXPECT_EQ(std::memcmp(got[0].data, head, sizeof head), 0);
  EXPECT_EQ(std::memcmp(got[0].data + 16, payload, sizeof payload), 0);
  drivers[1]->give_back(0, {got, 1});
  Done none;
  EXPECT_EQ(drivers[0]->done(0, {&none, 1}), 0u) << "a silent send reports nothing";
}

/// Both are this process, whose memory the kernel reaches like any other's.
TEST_P(ShmPair, AllMemoryOfAPeerIsReachedOnceThatIsAgreed) {
  uint64_t far = 0, near = 7;
  Work work = one_sided(Op::kPut, &near, sizeof near, 0);
  work.remote = reinterpret_cast<uint64_t>(&far);
  ASSERT_EQ(drivers[0]->post(0, {&work, 1}), 1u);
  EXPECT_EQ(finish(), WorkStatus::kRemoteAccess);
  ASSERT_TRUE(drivers[1]->expose(nullptr, ~uint64_t{0}).ok());
  EXPECT_EQ(drivers[1]->caps().atomic64, 0u);
  if (auto reached = drivers[0]->reach_peer_process(1); !reached) {
    GTEST_SKIP() << reached.sentence();
  }
  ASSERT_EQ(drivers[0]->post(0, {&work, 1}), 1u);
  EXPECT_EQ(finish(), WorkStatus::kOk);
  EXPECT_EQ(far, 7u);
  EXPECT_EQ(drivers[0]->failure(), nullptr);
}

/// The kernel copies, no more.
TEST_P(ShmPair, HasAtomicsOnMappedMemoryAlone) {
  EXPECT_EQ(drivers[0]->atomics_on(1), kAllAtomics);
  EXPECT_EQ(drivers[0]->atomics_on(drivers[0]->map_bound_region(1, 3, 0, 8, nullptr)), kAllAtomics);
  EXPECT_EQ(drivers[0]->atomics_on(ShmDriver::kCmaKey), 0u);
}

TEST_P(ShmPair, MemoryThatIsNotThereIsNamedInTheFailure) {
  ASSERT_TRUE(drivers[1]->expose(nullptr, ~uint64_t{0}).ok());
  if (auto reached = drivers[0]->reach_peer_process(1); !reached) {
    GTEST_SKIP() << reached.sentence();
  }
  std::byte data[64] = {};
  alignas(8) const uint64_t head = 0;
  Work work = one_sided(Op::kPutSend, data, sizeof data, 0);
  work.head = &head;
  work.head_bytes = sizeof head;
  work.remote = 4096;
  ASSERT_EQ(drivers[0]->post(0, {&work, 1}), 1u);
  EXPECT_EQ(finish(), WorkStatus::kRemoteAccess);
  EXPECT_TRUE(drivers[1]->idle(0)) << "no message follows data that was not written";
  ASSERT_NE(drivers[0]->failure(), nullptr);
  const std::string sentence = drivers[0]->failure()->sentence;
  EXPECT_NE(sentence.find("put of 64 bytes at 0x1000 of rank 1"), std::string::npos) << sentence;
}

/// Where the kernel copies, it takes the pieces of a list at once.
TEST_P(ShmPair, AListReachesAllMemoryOfAPeer_VIS_007) {
  EXPECT_EQ(drivers[0]->caps().scatter_bytes_max, 0u) << "what is mapped needs no lists";
  for (const auto& driver : drivers) ASSERT_TRUE(driver->expose(nullptr, ~uint64_t{0}).ok());
  ASSERT_TRUE(drivers[0]->expose(memory[0], sizeof memory[0]).ok());
  EXPECT_GT(drivers[0]->caps().scatter_bytes_max, 0u) << "a bound segment takes nothing back";
  uint64_t far[4] = {};
  const uint64_t near[] = {7, 8};
  ScatterList list(64);
  ASSERT_TRUE(list.add(&far[3], &near[0], 8));
  ASSERT_TRUE(list.add(&far[1], &near[1], 8));
  Work work = list.work(1, 1);
  work.cookie = ++cookie;
  if (auto reached = drivers[0]->reach_peer_process(1); !reached) {
    GTEST_SKIP() << reached.sentence();
  }
  ASSERT_EQ(drivers[0]->post(0, {&work, 1}), 1u);
  EXPECT_EQ(finish(), WorkStatus::kOk);
  EXPECT_EQ(far[3], 7u);
  EXPECT_EQ(far[1], 8u);

  ScatterList missing(64);
  ASSERT_TRUE(missing.add(&far[0], &near[0], 8));
  ASSERT_TRUE(missing.add(reinterpret_cast<void*>(4096), &near[1], 8));
  work = missing.work(1, 1);
  work.cookie = ++cookie;
  ASSERT_EQ(drivers[0]->post(0, {&work, 1}), 1u);
  EXPECT_EQ(finish(), WorkStatus::kRemoteAccess);
  ASSERT_NE(drivers[0]->failure(), nullptr);
  const std::string sentence = drivers[0]->failure()->sentence;
  EXPECT_NE(sentence.find("of rank 1 stopped with 8 bytes left"), std::string::npos) << sentence;
}

TEST_P(ShmPair, AListReachesMappedMemoryToo_VIS_007) {
  for (const auto& driver : drivers) ASSERT_TRUE(driver->expose(nullptr, ~uint64_t{0}).ok());
  const uint64_t near[] = {7, 8};
  for (const uint64_t last : {uint64_t{16}, uint64_t{sizeof memory[1]}}) {
    ScatterList list(64);
    ASSERT_TRUE(list.add(reinterpret_cast<void*>(kBase + 80), &near[0], 8));
    ASSERT_TRUE(list.add(reinterpret_cast<void*>(kBase + last), &near[1], 8));
    Work work = list.work(1, 1);
    work.cookie = ++cookie;
    ASSERT_EQ(drivers[0]->post(0, {&work, 1}), 1u);
    EXPECT_EQ(finish(), last == 16 ? WorkStatus::kOk : WorkStatus::kRemoteAccess);
  }
  EXPECT_EQ(std::memcmp(&memory[1][80], &near[0], 8), 0);
  EXPECT_EQ(std::memcmp(&memory[1][16], &near[1], 8), 0);
}

TEST_P(ShmPair, RepliesPassHeldRequests) {
  alignas(8) const uint64_t head = 1;
  Work work{};
  work.op = Op::kSend;
  work.flags = kWorkCopied | kWorkSilent;
  work.head_bytes = 8;
  work.peer = 1;
  work.head = &head;
  while (drivers[0]->post(0, {&work, 1}) == 1) {
  }
  work.cls = MessageClass::kReply;
  ASSERT_EQ(drivers[0]->post(0, {&work, 1}), 1u) << "a full request ring must not stop replies";
  Recv got[64];
  ASSERT_EQ(drivers[1]->recv(0, RecvFilter::kRepliesOnly, got), 1u);
  EXPECT_EQ(got[0].cls, MessageClass::kReply);
}

TEST_P(ShmPair, PutGetAndAtomics) {
  uint64_t value = 0x1122334455667788, back = 0;
  Work put = one_sided(Op::kPut, &value, 8, 64);
  ASSERT_EQ(drivers[0]->post(0, {&put, 1}), 1u);
  EXPECT_EQ(finish(), WorkStatus::kOk);
  EXPECT_EQ(std::memcmp(&memory[1][64], &value, 8), 0);
  Work get = one_sided(Op::kGet, &back, 8, 64);
  ASSERT_EQ(drivers[0]->post(0, {&get, 1}), 1u);
  EXPECT_EQ(finish(), WorkStatus::kOk);
  EXPECT_EQ(back, value);
  const AtomicOperands add{AtomicCode::kAdd, 5, 0};
  Work fetch = one_sided(Op::kFetchOp, &back, 8, 64);
  fetch.head = &add;
  fetch.head_bytes = sizeof add;
  ASSERT_EQ(drivers[0]->post(0, {&fetch, 1}), 1u);
  EXPECT_EQ(finish(), WorkStatus::kOk);
  EXPECT_EQ(back, value);
  std::memcpy(&back, &memory[1][64], 8);
  EXPECT_EQ(back, value + 5);
}

TEST_P(ShmPair, AccessOutsideTheRegionIsRefused) {
  uint64_t value = 1;
  for (const uint64_t offset : {uint64_t{4089}, uint64_t{4096}, ~uint64_t{0} - kBase - 2}) {
    Work put = one_sided(Op::kPut, &value, 8, offset);
    ASSERT_EQ(drivers[0]->post(0, {&put, 1}), 1u);
    EXPECT_EQ(finish(), WorkStatus::kRemoteAccess) << offset;
  }
}

INSTANTIATE_TEST_SUITE_P(Writers, ShmPair, testing::Bool(),
                         [](const auto& at) { return at.param ? "Shared" : "Single"; });

}  // namespace
}  // namespace pinwire

// Every violation of the driver contract that `checked` can see ends the process with a sentence
// that names it: those of the caller, and, over a driver that misbehaves, those of the driver.
#include "driver/checked.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/support/idle_driver.h"
#include "tests/support/scatter_list.h"

namespace pinwire {
namespace {

alignas(16) std::byte line[64];

/// Does and answers what a test tells it to.
class Puppet final : public test::IdleDriver {
 public:
  Caps told{.lanes_max = 2,
            .send_bytes_max = 1000,
            .put_bytes_max = 4000,
            .inline_bytes_max = 64,
            .eager_bytes_max = 500,
            .copied_bytes_max = 2000,
            .lent_bytes_max = 500,
            .scatter_bytes_max = 48,
            .atomic64 = kAllAtomics};
  uint32_t takes = 1;
  std::vector<Done> dones;
  std::vector<Recv> recvs;
  uint32_t extra = 0;  ///< claims so many more than there was room for
  int fd = -1;
  Armed armed = Armed::kBusy;
  const Failure* failed = nullptr;
  Region pinned_as{};
  Lent lent{};
  std::function<void()> inside_recv;

  Caps caps() const noexcept override { return told; }
  Result<Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    return pinned_as.bytes != 0 ? pinned_as : Region{reinterpret_cast<uint64_t>(base), bytes, 1, 1};
  }
  uint32_t post(uint32_t, std::span<const Work>) noexcept override { return takes; }
  Lent lend(uint32_t, Rank, uint64_t) noexcept override { return lent; }
  uint32_t done(uint32_t, std::span<Done> out) noexcept override { return give(dones, out); }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv> out) noexcept override {
    if (inside_recv) inside_recv();
    return give(recvs, out);
  }
  int event_fd(uint32_t) const noexcept override { return fd; }
  Armed arm(uint32_t) noexcept override { return armed; }
  const Failure* failure() const noexcept override { return failed; }

 private:
  template <typename T>
  uint32_t give(const std::vector<T>& from, std::span<T> out) const {
    std::copy_n(from.begin(), std::min(from.size(), out.size()), out.begin());
    return static_cast<uint32_t>(from.size()) + extra;
  }
};

class CheckedDeath : public testing::Test {
 protected:
  CheckedDeath() {
    auto puppet = std::make_unique<Puppet>();
    puppet_ = puppet.get();
    driver_ = make_checked(std::move(puppet));
  }
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "fast";
    EXPECT_TRUE(driver_->open({.rank = 0, .rank_count = 3, .lanes = 2}).ok());
    EXPECT_TRUE(driver_->connect(1, {}).ok());
  }
  Work send() {
    Work work{};
    work.op = Op::kSend;
    work.peer = 1;
    work.cookie = 7;
    work.head = line;
    work.head_bytes = 8;
    return work;
  }
  Work put(uint64_t bytes, uint8_t flags = 0) {
    Work work{};
    work.op = Op::kPut;
    work.flags = flags;
    work.peer = 1;
    work.cookie = 7;
    work.local = line;
    work.bytes = bytes;
    return work;
  }
  void post(const Work& work) { driver_->post(0, {&work, 1}); }
  uint32_t recv(RecvFilter filter = RecvFilter::kAll) {
    Recv out[2];
    return driver_->recv(0, filter, out);
  }
  Recv message() { return {line + 8, 16, 1, 0, MessageClass::kRequest}; }

  Puppet* puppet_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(CheckedDeath, GoodUseIsLetThrough) {
  post(send());
  puppet_->dones = {{7, WorkStatus::kOk}};
  Done done[2];
  EXPECT_EQ(driver_->done(0, done), 1u);
  puppet_->recvs = {message()};
  Recv got[2];
  EXPECT_EQ(driver_->recv(0, RecvFilter::kAll, got), 1u);
  driver_->give_back(0, {got, 1});
  puppet_->takes = 0;
  post(put(2000, kWorkCopied));
}

TEST_F(CheckedDeath, TheCallersControlPlane) {
  EXPECT_DEATH(static_cast<void>(driver_->open({.rank_count = 3})), "open: twice");
  EXPECT_DEATH(static_cast<void>(driver_->connect(3, {})), "connect: no such rank");
  EXPECT_DEATH(static_cast<void>(driver_->connect(1, {})), "connect: twice");
  EXPECT_DEATH(static_cast<void>(driver_->pin(nullptr, 8, -1, 0)), "pin: nothing");
  EXPECT_DEATH(static_cast<void>(driver_->expose(line, 8)), "expose: without");
  EXPECT_DEATH(static_cast<void>(driver_->pin_device(line, 8, -1)), "pin_device: nothing");
  EXPECT_DEATH(static_cast<void>(driver_->unpin({1, 2, 3, 4})), "unpin: a region");
  const auto fresh = [] { return make_checked(std::make_unique<Puppet>()); };
  EXPECT_DEATH(static_cast<void>(fresh()->open({.rank = 3, .rank_count = 3})),
               "open: no such rank");
  EXPECT_DEATH(static_cast<void>(fresh()->open({.lanes = 3})), "open: lanes");
  EXPECT_DEATH(static_cast<void>(fresh()->open({.network_depth = 0})), "open: no depth");
  EXPECT_DEATH(fresh()->address(), "before open or after close");
  EXPECT_DEATH(static_cast<void>(fresh()->connect(1, {})), "before open or after close");
  driver_->close();
  EXPECT_DEATH(post(send()), "before open or after close");
}

TEST_F(CheckedDeath, TheCallersWork) {
  const auto dies = [&](Work work, const char* why) { EXPECT_DEATH(post(work), why); };
  Work work = send();
  work.op = static_cast<Op>(9);
  dies(work, "no such operation");
  work = send();
  work.cls = static_cast<MessageClass>(2);
  dies(work, "no such class");
  work = send();
  work.flags = 32;
  dies(work, "unknown flags");
  dies(put(64, kWorkDevice), "device memory that is copied, or has no key");
  dies(put(64, kWorkDevice | kWorkCopied), "device memory that is copied, or has no key");
  dies(put(64, kWorkFenced), "a fence of no kSend");
  work = send();
  work.peer = 3;
  dies(work, "no such rank");
  work.peer = 2;
  dies(work, "not connected");
  work = send();
  work.head_bytes = 12;
  dies(work, "bad head_bytes");
  work.head_bytes = kHeadBytesMax + 8;
  dies(work, "bad head_bytes");
  work = send();
  work.bytes = 1;
  dies(work, "bytes without memory");
  work.local = line;
  work.bytes = 993;
  dies(work, "larger than send_bytes_max");
  dies(put(4001), "larger than put_bytes_max");
  dies(put(2001, kWorkCopied), "larger than copied_bytes_max");
  work = put(4001);
  work.op = Op::kGet;
  dies(work, "get larger than put_bytes_max");
  work = put(8, kWorkCopied);
  work.op = Op::kGet;
  dies(work, "a get cannot be copied");
  work = put(8);
  work.op = Op::kFetchOp;
  dies(work, "malformed atomic");
  work.head = line;
  work.remote = 4;
  dies(work, "malformed atomic");
  EXPECT_DEATH(driver_->post(0, {}), "no work");
  EXPECT_DEATH(driver_->post(2, {&work, 1}), "no such lane");
}

TEST_F(CheckedDeath, AListOfPieces) {
  ScatterList list(64);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(list.add(&line[8 * i], line, 8));
  const Work good = list.work(1, 1);
  post(good);
  const auto dies = [&](auto spoil, const char* why) {
    Work work = good;
    spoil(work);
    EXPECT_DEATH(post(work), why);
  };
  dies([](Work& work) { work.flags = 0; }, "not copied, or has a head");
  dies([](Work& work) { work.head_bytes = 8; }, "not copied, or has a head");
  dies([](Work& work) { work.bytes = 40; }, "malformed list");
  dies([](Work& work) { work.bytes = 0; }, "malformed list");
  ASSERT_TRUE(list.add(line, line, 8));
  dies([](Work& work) { work.bytes = 64; }, "larger than scatter_bytes_max");
}

TEST_F(CheckedDeath, WhatIsLent) {
  EXPECT_DEATH(driver_->lend(0, 3, 8), "lend: no such rank");
  EXPECT_DEATH(driver_->lend(0, 1, 501), "lend: more than lent_bytes_max");
  puppet_->lent = {line, 8, 5};
  EXPECT_DEATH(driver_->lend(0, 1, 9), "lend: less than was asked for");
  puppet_->lent.payload = line + 8;
  EXPECT_DEATH(driver_->lend(0, 1, 8), "lend: not aligned");
  puppet_->lent.payload = line;
  Work work = send();
  work.flags = kWorkLent;
  work.local = line;
  work.bytes = 8;
  work.lent = 5;
  EXPECT_DEATH(post(work), "post: memory that is not lent");
  EXPECT_DEATH(driver_->take_back(0, puppet_->lent), "take_back: memory that is not lent");
  EXPECT_EQ(driver_->lend(0, 1, 8).payload, line);
  work.lent = 6;
  EXPECT_DEATH(post(work), "post: memory that is not lent");
  work.lent = 5;
  work.bytes = 9;
  EXPECT_DEATH(post(work), "post: more than was lent");
  work.bytes = 8;
  work.head_bytes = 16;
  EXPECT_DEATH(post(work), "in another message than it is for");
  work.head_bytes = 8;
  puppet_->takes = 0;
  post(work);  // refused: still out
  puppet_->takes = 1;
  post(work);
  EXPECT_DEATH(post(work), "post: memory that is not lent");
  EXPECT_EQ(driver_->lend(0, 1, 8).payload, line);
  driver_->take_back(0, puppet_->lent);
  EXPECT_DEATH(driver_->take_back(0, puppet_->lent), "take_back: memory that is not lent");
}

TEST_F(CheckedDeath, AnAtomicWithoutTheCapability) {
  auto puppet = std::make_unique<Puppet>();
  puppet->told.atomic64 = atomic_bit(AtomicCode::kSwap);
  auto driver = make_checked(std::move(puppet));
  ASSERT_TRUE(driver->open({.rank_count = 2}).ok());
  ASSERT_TRUE(driver->connect(1, {}).ok());
  Work work = put(8);
  work.op = Op::kFetchOp;
  work.head = line;
  EXPECT_DEATH(driver->post(0, {&work, 1}), "without caps..\\.atomic64");
}

TEST_F(CheckedDeath, TheCallersBuffers) {
  Recv first = message(), second = message();
  second.data += 16;
  puppet_->recvs = {first, second};
  EXPECT_EQ(recv(), 2u);
  EXPECT_DEATH(driver_->give_back(0, {&second, 1}), "not the oldest");
  driver_->give_back(0, {&first, 1});
  EXPECT_DEATH(driver_->give_back(0, {&first, 1}), "not the oldest");
  driver_->give_back(0, {&second, 1});
  EXPECT_DEATH(driver_->give_back(0, {&second, 1}), "nothing of this class is held");
  for (const auto call :
       {+[](Driver& d) { static_cast<void>(d.idle(2)); },
        +[](Driver& d) { static_cast<void>(d.event_fd(2)); },
        +[](Driver& d) { static_cast<void>(d.arm(2)); },
        +[](Driver& d) { static_cast<void>(d.drained(2)); }, +[](Driver& d) { d.give_back(2, {}); },
        +[](Driver& d) { d.done(2, {}); }}) {
    EXPECT_DEATH(call(*driver_), "no such lane");
  }
}

TEST_F(CheckedDeath, TwoCallsForOneLaneAtOnce) {
  puppet_->inside_recv = [&] { post(send()); };
  EXPECT_DEATH(recv(), "two calls for one lane at once");
  puppet_->inside_recv = [&] { driver_->done(0, {}); };
  EXPECT_DEATH(recv(), "two calls for one lane at once");
}

TEST_F(CheckedDeath, TheDriversCompletions) {
  Done out[2];
  puppet_->dones = {{7, WorkStatus::kOk}};
  EXPECT_DEATH(driver_->done(0, out), "no accepted, signalled work");
  post(put(8, kWorkSilent));
  EXPECT_DEATH(driver_->done(0, out), "no accepted, signalled work");
  puppet_->takes = 0;
  post(put(8));
  EXPECT_DEATH(driver_->done(0, out), "no accepted, signalled work");
  puppet_->takes = 1;
  post(put(8));
  EXPECT_EQ(driver_->done(0, out), 1u);
  EXPECT_DEATH(driver_->done(0, out), "no accepted, signalled work");
  post(put(8));
  puppet_->dones = {{7, static_cast<WorkStatus>(9)}};
  EXPECT_DEATH(driver_->done(0, out), "no such status");
  puppet_->extra = 2;
  EXPECT_DEATH(driver_->done(0, out), "more than there is room for");
  puppet_->takes = 2;
  EXPECT_DEATH(post(put(8)), "took more than there was");
}

TEST_F(CheckedDeath, TheDriversMessages) {
  const auto dies = [&](Recv with, const char* why, RecvFilter filter = RecvFilter::kAll) {
    puppet_->recvs = {with};
    EXPECT_DEATH(recv(filter), why);
  };
  dies(message(), "a request, where only replies", RecvFilter::kRepliesOnly);
  Recv wrong = message();
  wrong.cls = static_cast<MessageClass>(2);
  dies(wrong, "no such class");
  wrong = message();
  wrong.peer = 3;
  dies(wrong, "from no rank");
  wrong = message();
  wrong.data = line;
  dies(wrong, "data % 16");
  wrong = message();
  wrong.bytes = 1001;
  dies(wrong, "longer than send_bytes_max");
  puppet_->extra = 2;
  dies(message(), "more than there is room for");
}

TEST_F(CheckedDeath, TheDriversRest) {
  puppet_->fd = 5;
  EXPECT_DEATH(static_cast<void>(driver_->event_fd(0)), "not as caps..\\.event_fd says");
  puppet_->armed = Armed::kArmed;
  EXPECT_DEATH(driver_->arm(0), "armed without an event_fd");
  const Failure failure{};
  puppet_->failed = &failure;
  EXPECT_EQ(driver_->failure(), &failure);
  puppet_->failed = nullptr;
  EXPECT_DEATH(static_cast<void>(driver_->failure()), "came to life again");
  puppet_->pinned_as = {1, 2, 3, 4};
  EXPECT_DEATH(static_cast<void>(driver_->pin(line, 8, -1, 0)), "another region");
}

TEST_F(CheckedDeath, CapsThatContradictThemselves) {
  const auto dies = [](void (*spoil)(Caps&), const char* why) {
    auto puppet = std::make_unique<Puppet>();
    spoil(puppet->told);
    auto driver = make_checked(std::move(puppet));
    EXPECT_DEATH(static_cast<void>(driver->open({.rank_count = 2})), why);
  };
  dies([](Caps& caps) { caps.lanes_max = 0; }, "no lane");
  dies([](Caps& caps) { caps.send_bytes_max = kHeadBytesMax; }, "caps: send_bytes_max");
  dies([](Caps& caps) { caps.inline_bytes_max = 3000; }, "inline_bytes_max above");
  dies([](Caps& caps) { caps.eager_bytes_max = 3000; }, "eager_bytes_max above");
  dies([](Caps& caps) { caps.copied_bytes_max = 5000; }, "copied_bytes_max above");
  dies([](Caps& caps) { caps.lent_bytes_max = 905; }, "lent_bytes_max above");
}

}  // namespace
}  // namespace pinwire

// The contract of driver.h over every driver, with `checked` around it on both sides of `faulty`:
// on a good day, with refusals and delays, and with each capability denied.
#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>
#include <map>
#include <memory>

#include "tests/support/byte_pattern.h"
#include "tests/support/scatter_list.h"
#include "tests/unit/driver/two_ranks.h"

namespace pinwire {
namespace {

struct Day {
  Kind kind;
  std::string faults;
};
std::string name_of(const Day& day) {
  static const char* const kKinds[] = {"shm_", "nicfw_", "verbs_"};
  std::string name = kKinds[static_cast<int>(day.kind)] + day.faults;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}
std::vector<Kind> kinds() {
  std::vector<Kind> all = {Kind::kShm, Kind::kNicfw};
  if (has_verbs()) all.push_back(Kind::kVerbs);
  return all;
}
std::vector<Day> days() {
  std::vector<Day> all;
  for (const Kind kind : kinds()) {
    for (const char* faults : {"", "refuse=0.5", "delay=0.5", "refuse=0.3,delay=0.3,seed=9"}) {
      all.push_back({kind, faults});
    }
    for (const char* capability : deniable()) {
      all.push_back({kind, std::string("without=") + capability});
    }
  }
  return all;
}

class Contract : public testing::TestWithParam<Day> {
 protected:
  Contract() : ranks_(GetParam().kind, read_fault_plan(GetParam().faults).value()) {}

  static constexpr uint32_t kTurnsMax = 100'000;
  /// Posts all, polling both ranks for room and until `count` are done and `messages` seen.
  void carry_out(std::vector<Work> works, size_t messages = 0) {
    size_t posted = 0, signalled = 0;
    for (const Work& work : works) signalled += (work.flags & kWorkSilent) == 0;
    for (uint32_t turn = 0; turn < kTurnsMax; ++turn) {
      if (posted < works.size()) {
        posted += ranks_.at(0).post(0, std::span(works).subspan(posted));
      }
      ranks_.turn(
          0, [](const Recv&) { FAIL() << "nobody sends to rank 0"; }, done_);
      ranks_.turn(
          1, [&](const Recv& recv) { see(recv); }, none_);
      if (posted == works.size() && done_.size() == signalled && seen_ == messages) return;
    }
    FAIL() << posted << " of " << works.size() << " posted, " << done_.size() << " of " << signalled
           << " done, " << seen_ << " of " << messages << " messages";
  }
  void see(const Recv& recv) {
    ++seen_;
    uint64_t number;
    ASSERT_GE(recv.bytes, sizeof number);
    std::memcpy(&number, recv.data, sizeof number);
    ++times_[number];
    EXPECT_EQ(recv.peer, 0u);
    EXPECT_EQ(recv.cls == MessageClass::kReply, number % 3 == 0);
    for (uint32_t i = sizeof number; i < recv.bytes; ++i) {
      ASSERT_EQ(recv.data[i], static_cast<std::byte>(number));
    }
  }
  void expect_all_done_once() {
    std::map<uint64_t, int> times;
    for (const Done& done : done_) {
      EXPECT_EQ(done.status, WorkStatus::kOk);
      ++times[done.cookie];
    }
    for (const auto& [cookie, count] : times) EXPECT_EQ(count, 1) << cookie;
  }
  Work put(const std::byte* from, uint64_t bytes, uint64_t offset, uint8_t flags = 0) {
    Work work{};
    work.op = Op::kPut;
    work.flags = flags;
    work.peer = 1;
    work.cookie = ++cookie_;
    work.local = const_cast<std::byte*>(from);
    work.bytes = bytes;
    work.remote = reinterpret_cast<uint64_t>(ranks_.memory(1)) + offset;
    work.remote_key = ranks_.region(1).remote_key;
    return work;
  }
  std::vector<std::byte> pattern(uint64_t bytes, unsigned seed) {
    std::vector<std::byte> data(bytes);
    fill_pattern(data.data(), bytes, seed);
    return data;
  }

  TwoRanks ranks_;
  std::vector<Done> done_, none_;
  std::map<uint64_t, int> times_;
  size_t seen_ = 0;
  uint64_t cookie_ = 0;
};

TEST_P(Contract, MessagesArriveOnceAndWhole) {
  constexpr uint64_t kMessages = 400;
  const uint64_t payload_max = std::min<uint64_t>(ranks_.at(0).caps().send_bytes_max - 8, 1000);
  std::vector<uint64_t> heads(kMessages);
  std::vector<std::vector<std::byte>> payloads;
  std::vector<Work> works;
  for (uint64_t i = 0; i < kMessages; ++i) {
    heads[i] = i;
    payloads.emplace_back(i * 37 % payload_max, static_cast<std::byte>(i));
    Work work{};
    work.op = Op::kSend;
    work.cls = i % 3 == 0 ? MessageClass::kReply : MessageClass::kRequest;
    work.flags = static_cast<uint8_t>(kWorkCopied | (i % 2 == 0 ? kWorkSilent : 0));
    work.head_bytes = 8;
    work.peer = 1;
    work.cookie = i;
    work.head = &heads[i];
    work.local = payloads[i].data();
    work.bytes = payloads[i].size();
    works.push_back(work);
  }
  carry_out(works, kMessages);
  for (uint64_t i = 0; i < kMessages; ++i) EXPECT_EQ(times_[i], 1) << i;
  expect_all_done_once();
}

uint64_t stat_of(const Driver& driver, const std::string& wanted) {
  struct Sink : StatSink {
    explicit Sink(std::string name) : wanted(std::move(name)) {}
    void stat(const char* name, uint64_t value) noexcept override {
      if (wanted == name) found += value;
    }
    std::string wanted;
    uint64_t found = 0;
  } sink(wanted);
  driver.stats(sink);
  return sink.found;
}
/// The drivers' names for payload of messages that they copied, and that left where it was written.
struct Counted {
  const char* copied;
  const char* in_place;
};
Counted counted(Kind kind) {
  if (kind == Kind::kShm) return {"message_copied_bytes", "message_lent_bytes"};
  if (kind == Kind::kNicfw) return {"tx_copied_bytes", "tx_zero_copy_bytes"};
  return {"copied_bytes", "in_place_bytes"};
}

// Some are posted long after they were lent, while others are sent past them; some never (GX-118).
TEST_P(Contract, WhatIsWrittenIntoLentMemoryIsSentFromThere) {
  constexpr uint64_t kMessages = 300;
  constexpr size_t kHeldMax = 4;
  const Caps caps = ranks_.at(0).caps();
  if (caps.lent_bytes_max == 0) {
    EXPECT_EQ(GetParam().faults, "without=lends");
    EXPECT_EQ(ranks_.at(0).lend(0, 1, 0).payload, nullptr);
    return;
  }
  struct Held {
    Work work;
    uint64_t heads[3];
  };
  std::vector<std::unique_ptr<Held>> held;
  uint64_t number = 0, taken_back = 0, bytes_lent = 0;
  const auto turn = [&] {
    ranks_.turn(
        0, [](const Recv&) { FAIL() << "nobody sends to rank 0"; }, done_);
    ranks_.turn(
        1,
        [&](const Recv& recv) {
          see(recv);
          EXPECT_EQ(reinterpret_cast<uintptr_t>(recv.data) % 16, 8u);
        },
        none_);
  };
  for (uint32_t turns = 0; number < kMessages || !held.empty() || seen_ + taken_back < kMessages;
       ++turns) {
    ASSERT_LT(turns, kTurnsMax) << number << " lent, " << seen_ << " seen";
    const uint64_t bytes = std::min<uint64_t>(number * 61 % 1300, caps.lent_bytes_max);
    const Lent lent =
        number < kMessages && held.size() < kHeldMax ? ranks_.at(0).lend(0, 1, bytes) : Lent{};
    if (lent.payload != nullptr) {
      std::memset(lent.payload, static_cast<int>(number), bytes);
      if (number % 10 == 7) {
        ranks_.at(0).take_back(0, lent);
        ++taken_back;
      } else {
        auto next = std::make_unique<Held>();
        Work& work = next->work = {};
        std::memset(next->heads, static_cast<int>(number), sizeof next->heads);
        next->heads[0] = number;
        work.op = Op::kSend;
        work.cls = number % 3 == 0 ? MessageClass::kReply : MessageClass::kRequest;
        work.flags =
            static_cast<uint8_t>(kWorkCopied | kWorkLent | (number % 2 == 0 ? kWorkSilent : 0));
        work.head_bytes = number % 4 == 0 ? 24 : 8;
        work.peer = 1;
        work.cookie = number;
        work.head = next->heads;
        work.local = lent.payload;
        work.bytes = bytes;
        work.lent = lent.name;
        held.insert(number % 5 == 0 ? held.begin() : held.end(), std::move(next));
      }
      ++number;
    }
    // The newest, so that the first waits until nothing new is lent.
    if ((held.size() == kHeldMax || number == kMessages) && !held.empty() &&
        ranks_.at(0).post(0, {&held.back()->work, 1}) == 1) {
      bytes_lent += held.back()->work.bytes;
      held.pop_back();
    }
    turn();
  }
  for (uint64_t i = 0; i < kMessages; ++i) EXPECT_EQ(times_[i], i % 10 == 7 ? 0 : 1) << i;
  expect_all_done_once();
  // A payload that goes beside its head into one line, one frame with others or one request, is
  // copied.
  constexpr uint64_t kCopiedMax = 300 * kMessages / 4;
  const Counted names = counted(GetParam().kind);
  if (GetParam().faults.empty()) {
    EXPECT_LE(stat_of(ranks_.at(0), names.copied), kCopiedMax);
    EXPECT_GE(stat_of(ranks_.at(0), names.in_place) + kCopiedMax, bytes_lent);
  }
}

// Lent memory that is out, all that there is, holds up nobody.
TEST_P(Contract, WhatIsLentHoldsUpNobody) {
  if (ranks_.at(0).caps().lent_bytes_max == 0) return;
  std::vector<Lent> out;
  for (uint32_t tries = 0; tries < 300; ++tries) {
    const Lent lent = ranks_.at(0).lend(0, 1, 64);
    if (lent.payload != nullptr) out.push_back(lent);
  }
  EXPECT_GE(out.size(), 4u);
  EXPECT_LT(out.size(), 256u);
  std::vector<uint64_t> heads(200);
  std::vector<std::byte> payload(512);
  std::vector<Work> works;
  for (uint64_t i = 0; i < heads.size(); ++i) {
    heads[i] = i;
    std::memset(payload.data(), 0, payload.size());
    Work work{};
    work.op = Op::kSend;
    work.cls = i % 3 == 0 ? MessageClass::kReply : MessageClass::kRequest;
    work.flags = kWorkCopied | kWorkSilent;
    work.head_bytes = 8;
    work.peer = 1;
    work.head = &heads[i];
    works.push_back(work);
  }
  carry_out(works, works.size());
  const auto source = pattern(
      std::min<uint64_t>(TwoRanks::kMemoryBytes / 2, ranks_.at(0).caps().copied_bytes_max), 3);
  if (!source.empty()) carry_out({put(source.data(), source.size(), 0, kWorkCopied)}, works.size());
  for (const Lent& lent : out) ranks_.at(0).take_back(0, lent);
}

TEST_P(Contract, AFencedMessageComesAfterAllThatWasSentBefore) {
  constexpr uint64_t kMessages = 300;
  std::vector<uint64_t> heads(kMessages);
  std::vector<Work> works;
  for (uint64_t i = 0; i < kMessages; ++i) {
    heads[i] = i;
    Work work{};
    work.op = Op::kSend;
    work.cls = MessageClass::kReply;
    work.flags = static_cast<uint8_t>(kWorkCopied | kWorkSilent | (i % 10 == 9 ? kWorkFenced : 0));
    work.head_bytes = 8;
    work.peer = 1;
    work.head = &heads[i];
    works.push_back(work);
  }
  std::vector<uint64_t> order;
  for (uint32_t turn = 0, posted = 0; order.size() < kMessages; ++turn) {
    ASSERT_LT(turn, kTurnsMax);
    if (posted < kMessages) posted += ranks_.at(0).post(0, std::span(works).subspan(posted));
    ranks_.turn(
        0, [](const Recv&) {}, done_);
    ranks_.turn(
        1,
        [&](const Recv& recv) {
          uint64_t number;
          std::memcpy(&number, recv.data, sizeof number);
          order.push_back(number);
        },
        none_);
  }
  std::vector<bool> seen(kMessages);
  for (const uint64_t number : order) {
    for (uint64_t before = 0; number % 10 == 9 && before < number; ++before) {
      ASSERT_TRUE(seen[before] || before % 10 == 9) << number << " came before " << before;
    }
    seen[number] = true;
  }
}

TEST_P(Contract, ExposedMemoryIsReachedLikePinnedUntilItIsTakenBack) {
  if (!ranks_.at(1).caps().exposes) {
    EXPECT_EQ(GetParam().faults, "without=exposes");
    return;
  }
  auto exposed = ranks_.at(1).expose(nullptr, ~uint64_t{0});
  ASSERT_TRUE(exposed.ok());
  EXPECT_EQ(exposed->local_key != kNoRegion, GetParam().kind == Kind::kVerbs);
  if (auto reached = ranks_.reach_all_of(1); !reached) GTEST_SKIP() << reached.sentence();
  std::byte on_the_stack[300] = {};
  const auto source = pattern(sizeof on_the_stack, 9);
  std::vector<std::byte> back(sizeof on_the_stack);
  Work work = put(source.data(), source.size(), 0);
  work.remote = reinterpret_cast<uint64_t>(on_the_stack);
  work.remote_key = exposed->remote_key;
  carry_out({work});
  EXPECT_EQ(std::memcmp(on_the_stack, source.data(), source.size()), 0);
  expect_all_done_once();
  done_.clear();
  work.op = Op::kGet;
  work.local = back.data();
  work.remote_key = exposed->key_to_get();
  carry_out({work});
  EXPECT_EQ(back, source);
  expect_all_done_once();
  EXPECT_TRUE(ranks_.at(1).unpin(*exposed).ok());
}

TEST_P(Contract, PutsAndGetsOfEverySize) {
  const Caps caps = ranks_.at(0).caps();
  for (const uint64_t wanted : {1u, 8u, 100u, 256u, 257u, 1400u, 1500u, 5000u, 40'000u}) {
    const uint64_t bytes = std::min<uint64_t>(wanted, caps.put_bytes_max);
    const auto source = pattern(bytes, static_cast<unsigned>(wanted));
    std::vector<std::byte> back(bytes);
    carry_out({put(source.data(), bytes, 64)});
    EXPECT_EQ(std::memcmp(ranks_.memory(1) + 64, source.data(), bytes), 0) << bytes;
    Work get = put(back.data(), bytes, 64);
    get.op = Op::kGet;
    done_.clear();
    carry_out({get});
    EXPECT_EQ(back, source) << bytes;
    expect_all_done_once();
    done_.clear();
  }
}

TEST_P(Contract, ACopiedPutLeavesItsSourceFreeUpToTheLimit) {
  const uint64_t limit = std::min(ranks_.at(0).caps().copied_bytes_max, TwoRanks::kMemoryBytes / 2);
  for (const uint64_t bytes : {limit, limit / 2, limit / 16}) {
    if (bytes == 0) continue;
    const auto expected = pattern(bytes, 3);
    auto source = expected;
    const Work work = put(source.data(), bytes, 0, kWorkCopied);
    for (uint32_t turn = 0; ranks_.at(0).post(0, {&work, 1}) == 0; ++turn) {
      ASSERT_LT(turn, kTurnsMax) << "never room for a copied put of " << bytes;
      ranks_.turn(
          0, [](const Recv&) {}, done_);
      ranks_.turn(
          1, [](const Recv&) {}, none_);
    }
    std::fill(source.begin(), source.end(), std::byte{0xee});
    for (uint32_t turn = 0; done_.empty(); ++turn) {
      ASSERT_LT(turn, kTurnsMax);
      ranks_.turn(
          0, [](const Recv&) {}, done_);
      ranks_.turn(
          1, [](const Recv&) {}, none_);
    }
    EXPECT_EQ(std::memcmp(ranks_.memory(1), expected.data(), bytes), 0) << bytes;
    expect_all_done_once();
    done_.clear();
  }
}

TEST_P(Contract, PiecesGoWhereTheListSays) {
  const uint64_t limit = ranks_.at(0).caps().scatter_bytes_max;
  if (limit == 0) {
    EXPECT_TRUE(GetParam().kind != Kind::kNicfw || GetParam().faults == "without=scatters");
    return;
  }
  constexpr uint32_t kLists = 20, kStepBytes = 64;
  std::byte* const memory = ranks_.memory(1);
  std::memset(memory, 0, TwoRanks::kMemoryBytes);
  std::vector<std::byte> wanted(TwoRanks::kMemoryBytes);
  const auto source = pattern(wanted.size(), 4);
  std::vector<std::unique_ptr<ScatterList>> lists;
  std::vector<Work> works;
  for (uint64_t at = 1; works.size() < kLists;) {
    lists.push_back(std::make_unique<ScatterList>(static_cast<uint32_t>(limit)));
    for (;; at = (at + kStepBytes) % (wanted.size() - kStepBytes)) {
      const auto bytes = static_cast<uint32_t>(1 + at / kStepBytes % (kStepBytes - 1));
      if (!lists.back()->add(memory + at, &source[at], bytes)) break;
      std::memcpy(&wanted[at], &source[at], bytes);
    }
    Work& work = works.emplace_back(lists.back()->work(1, ranks_.region(1).remote_key));
    work.cookie = ++cookie_;
  }
  carry_out(works);
  EXPECT_EQ(std::memcmp(memory, wanted.data(), wanted.size()), 0);
  expect_all_done_once();
}

TEST_P(Contract, TheMessageOfAPutSendComesAfterTheData) {
  const uint64_t number = 1;
  const uint64_t bytes = std::min<uint64_t>(3000, ranks_.at(0).caps().put_bytes_max);
  const auto source = pattern(bytes, 5);
  Work work = put(source.data(), bytes, 128);
  work.op = Op::kPutSend;
  work.head = &number;
  work.head_bytes = 8;
  bool had_data = false;
  for (uint32_t turn = 0; seen_ == 0 || done_.empty(); ++turn) {
    ASSERT_LT(turn, kTurnsMax);
    if (work.bytes != 0 && ranks_.at(0).post(0, {&work, 1}) == 1) work.bytes = 0;
    ranks_.turn(
        0, [](const Recv&) {}, done_);
    ranks_.turn(
        1,
        [&](const Recv& recv) {
          see(recv);
          had_data = std::memcmp(ranks_.memory(1) + 128, source.data(), bytes) == 0;
        },
        none_);
  }
  EXPECT_TRUE(had_data);
  EXPECT_EQ(seen_, 1u);
}

TEST_P(Contract, AtomicsWhereThereAreSome) {
  if (!ranks_.at(0).caps().atomic64) {
    EXPECT_EQ(GetParam().faults, "without=atomic64");  // all drivers have them
    return;
  }
  uint64_t old = 0;
  const AtomicOperands add{AtomicCode::kAdd, 5, 0};
  for (uint64_t i = 0; i < 10; ++i) {
    Work work = put(reinterpret_cast<std::byte*>(&old), 8, 1024);
    work.op = Op::kFetchOp;
    work.head = &add;
    work.head_bytes = sizeof add;
    carry_out({work});
    EXPECT_EQ(old, 5 * i);
    done_.clear();
  }
}

TEST_P(Contract, AnAccessOutsideTheRegionIsRefused) {
  const uint64_t value = 1;
  const Work work = put(reinterpret_cast<const std::byte*>(&value), 8, TwoRanks::kMemoryBytes - 7);
  carry_out({work});
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, WorkStatus::kRemoteAccess);
}

TEST_P(Contract, ADriverThatSaysItSleepsHasSomethingToWakeIt) {
  const Caps caps = ranks_.at(0).caps();
  EXPECT_EQ(ranks_.at(0).event_fd(0) >= 0, caps.event_fd);
  if (!caps.event_fd) {
    EXPECT_EQ(ranks_.at(0).arm(0), Armed::kBusy);
  }
}

bool is_readable(int fd, int timeout_ms) {
  pollfd waiting{fd, POLLIN, 0};
  return poll(&waiting, 1, timeout_ms) == 1;
}

TEST_P(Contract, WhoSleepsIsWokenByWhatArrives) {
  if (!ranks_.at(1).caps().event_fd) GTEST_SKIP() << "this driver does not sleep";
  const int fd = ranks_.at(1).event_fd(0);
  uint32_t seen = 0;
  const auto turn = [&] {
    for (const Rank rank : {0u, 1u})
      ranks_.turn(
          rank, [&](const Recv&) { ++seen; }, done_);
  };
  for (uint32_t round = 0; round < 100; ++round) {
    while (ranks_.at(1).arm(0) != Armed::kArmed) turn();
    const uint64_t head = round;
    Work work{};
    work.op = Op::kSend;
    work.flags = kWorkSilent;
    work.cls = round % 3 == 0 ? MessageClass::kReply : MessageClass::kRequest;
    work.peer = 1;
    work.head = &head;
    work.head_bytes = sizeof head;
    while (ranks_.at(0).post(0, {&work, 1}) == 0) turn();
    constexpr int kPatienceMs = 60'000;
    for (int waited_ms = 0; !is_readable(fd, 1); ++waited_ms) {
      ASSERT_LT(waited_ms, kPatienceMs) << "round " << round;
      std::vector<Done> none;
      ranks_.turn(
          0, [](const Recv&) {}, none);
    }
    while (seen != round + 1) turn();
    EXPECT_LE(seen, round + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Days, Contract, testing::ValuesIn(days()),
                         [](const auto& at) { return name_of(at.param); });

TEST(Failing, AllWorkComesBackAndTheFailureStays) {
  for (const Kind kind : kinds()) {
    TwoRanks ranks(kind, read_fault_plan("fail=20").value());
    std::vector<Done> done, none;
    uint64_t value = 0, failed = 0, posted = 0;
    for (uint32_t turn = 0; done.size() < 100; ++turn) {
      ASSERT_LT(turn, 100'000u);
      Work work{};
      work.op = Op::kPut;
      work.peer = 1;
      work.cookie = posted;
      work.local = &value;
      work.bytes = 8;
      work.remote = ranks.region(1).base;
      work.remote_key = ranks.region(1).remote_key;
      if (posted < 100) posted += ranks.at(0).post(0, {&work, 1});
      ranks.turn(
          0, [](const Recv&) {}, done);
      ranks.turn(
          1, [](const Recv&) {}, none);
    }
    for (const Done& one : done) failed += one.status == WorkStatus::kUnreachable;
    EXPECT_EQ(failed, 80u);
    ASSERT_NE(ranks.at(0).failure(), nullptr);
    EXPECT_EQ(ranks.at(0).failure()->peer, 1u);
  }
}

TEST(Failing, TheControlPlaneFailsWithASentence) {
  FaultPlan plan;
  plan.fail_open = true;
  auto driver = make_faulty(make_shm_driver(64), plan);
  EXPECT_NE(driver->open({.rank = 0, .rank_count = 2}).sentence().find("opening failed"),
            std::string::npos);
  plan = {};
  plan.fail_connect = plan.fail_pin = true;
  driver = make_faulty(make_shm_driver(64), plan);
  ASSERT_TRUE(driver->open({.rank = 0, .rank_count = 2}).ok());
  EXPECT_NE(driver->connect(1, driver->address()).sentence().find("rank 1"), std::string::npos);
  EXPECT_NE(driver->pin(&plan, sizeof plan, -1, 0).sentence().find("pinning"), std::string::npos);
}

TEST(FaultPlan, BadTextGetsASentence) {
  for (const char* text : {"refuse", "refuse=2", "delay=x", "seed=1x", "without=luck", "what=1"}) {
    auto plan = read_fault_plan(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_NE(plan.sentence().find("without=CAPABILITY"), std::string::npos);
  }
  EXPECT_TRUE(read_fault_plan("").ok());
}

}  // namespace
}  // namespace pinwire

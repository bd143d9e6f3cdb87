// Two threads on each of two lanes of two ranks: a lane's calls are serialised by a lock, as the
// engine does it, but for idle(); what the lanes of a NIC share, and pin() beside them, is not.
// ThreadSanitizer sees what is not ordered; everything arrives once. For long:
// unit_nicfw_threads --gtest_repeat=1000 --gtest_shuffle, which makes other seeds each time.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "nicfw/nic.h"
#include "tests/unit/nicfw/shared_wire.h"

namespace pinwire {
namespace {

constexpr uint32_t kRanks = 2, kLanes = 2, kThreadsOfLane = 2;
constexpr uint32_t kThreads = kRanks * kLanes * kThreadsOfLane;
constexpr uint32_t kOperations = 300;  ///< of a thread
constexpr uint32_t kPutBytesMax = 4'000;
constexpr uint32_t kLatePins = 16;
constexpr uint32_t kSeeds = 3;

struct Slot {
  std::array<uint8_t, kPutBytesMax> source, target;
  uint32_t bytes = 0;  ///< 0: no put
};

/// Both ranks use this memory. Each operation of each thread has a place of its own in it.
struct World {
  std::vector<Slot> slots = std::vector<Slot>(kThreads * kOperations);
  std::vector<std::atomic<uint32_t>> arrived = std::vector<std::atomic<uint32_t>>(slots.size());
  std::array<uint64_t, kRanks> counters{};
  std::array<Region, kRanks> slot_regions{}, counter_regions{};
  std::atomic<uint64_t> added{0}, messages_got{0};
  std::atomic<uint32_t> unfinished{kThreads}, undrained{kThreads};  ///< threads
};

struct Rig {
  Rig(uint64_t seed, LoopFaults faults) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      faults.seed = seed * kLanes + lane + 1;
      wires.push_back(std::make_unique<QueueWire>(1'514, 64, faults));
    }
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      ports.push_back(std::make_unique<SharedPort>(wires, rank));
      nics.push_back(make_nic(*ports[rank], clock, {.seed = seed + rank}));
      const OpenInfo info{.rank = rank,
                          .rank_count = kRanks,
                          .lanes = kLanes,
                          .job_key = 7,
                          .network_depth = 16,
                          .concurrent = true};
      EXPECT_TRUE(nics[rank]->open(info).ok());
    }
    for (auto& nic : nics) {
      for (uint32_t peer = 0; peer < kRanks; ++peer)
        EXPECT_TRUE(nic->connect(peer, nics[peer]->address()).ok());
    }
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      world.slot_regions[rank] = pin(rank, world.slots.data(), world.slots.size() * sizeof(Slot));
      world.counter_regions[rank] = pin(rank, &world.counters[rank], sizeof world.counters[rank]);
    }
  }
  Region pin(uint32_t rank, void* base, uint64_t bytes) {
    return nics[rank]->pin(base, bytes, -1, 0).value();
  }

  SharedClock clock;
  std::vector<std::unique_ptr<QueueWire>> wires;
  std::vector<std::unique_ptr<SharedPort>> ports;
  std::vector<std::unique_ptr<Driver>> nics;
  std::array<std::array<std::mutex, kLanes>, kRanks> locks;
  World world;
};

/// One thread: it posts its operations, and serves its lane until all threads of all ranks are
/// done.
class Worker {
 public:
  Worker(Rig& rig, uint32_t thread, uint64_t seed)
      : rig_(rig),
        thread_(thread),
        rank_(thread / kThreadsOfLane / kLanes),
        lane_(thread / kThreadsOfLane % kLanes),
        random_(seed * kThreads + thread) {}

  /// A lane that has nothing left still acknowledges what its peer repeats.
  void run() {
    World& world = rig_.world;
    while (world.undrained != 0) {
      turn();
      if (rig_.nics[rank_]->idle(lane_)) std::this_thread::yield();
      const bool has_all = posted_ == kOperations && world.messages_got == world.arrived.size();
      if (has_all && !has_left_) --world.unfinished;
      has_left_ |= has_all;
      if (world.unfinished == 0 && !is_drained_ && looks_drained()) {
        is_drained_ = true;
        --world.undrained;
      }
    }
  }

 private:
  void turn() {
    const std::lock_guard guard(rig_.locks[rank_][lane_]);
    if (posted_ < kOperations && random_.chance(0.5)) post();
    serve();
  }

  bool looks_drained() {
    const std::lock_guard guard(rig_.locks[rank_][lane_]);
    return rig_.nics[rank_]->drained(lane_);
  }

  /// A put of its own place, a get of a place that nobody changes, or an addition; then a message.
  void post() {
    const uint64_t number = uint64_t{thread_} * kOperations + posted_;
    if (!has_posted_work_ && !post_work(number)) return;
    has_posted_work_ = true;
    Work message{.op = Op::kSend, .cls = MessageClass::kRequest, .flags = kWorkSilent};
    message.peer = 1 - rank_;
    message.head = &number;
    message.head_bytes = sizeof number;
    if (rig_.nics[rank_]->post(lane_, {&message, 1}) != 1) return;
    has_posted_work_ = false;
    ++posted_;
  }

  bool post_work(uint64_t number) {
    World& world = rig_.world;
    Slot& slot = world.slots[number];
    const auto bytes = 1 + static_cast<uint32_t>(random_.below(kPutBytesMax));
    const AtomicOperands add{AtomicCode::kAdd, 1 + random_.below(9), 0};
    Work work{.op = Op::kPut, .cls = MessageClass::kRequest};
    work.peer = 1 - rank_;
    work.cookie = number;
    work.local = slot.source.data();
    work.bytes = bytes;
    work.remote = reinterpret_cast<uint64_t>(slot.target.data());
    work.remote_key = world.slot_regions[1 - rank_].remote_key;
    const uint64_t kind = random_.below(3);
    if (kind == 0) {
      slot.source.fill(static_cast<uint8_t>(number + 1));
      if (random_.chance(0.5)) work.flags = kWorkCopied;
    } else if (kind == 1) {
      work.op = Op::kGet;
    } else {
      work.op = Op::kFetchOp;
      work.head = &add;
      work.head_bytes = sizeof add;
      work.bytes = sizeof(uint64_t);
      work.local = nullptr;
      work.remote = reinterpret_cast<uint64_t>(&world.counters[1 - rank_]);
      work.remote_key = world.counter_regions[1 - rank_].remote_key;
    }
    if (rig_.nics[rank_]->post(lane_, {&work, 1}) != 1) return false;
    if (kind == 0) slot.bytes = bytes;
    if (kind == 2) world.added += add.operand;
    return true;
  }

  void serve() {
    Driver& nic = *rig_.nics[rank_];
    std::array<Recv, 8> got;
    const uint32_t count = nic.recv(lane_, RecvFilter::kAll, got);
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t number = ~uint64_t{0};
      std::memcpy(&number, got[i].data, sizeof number);
      ASSERT_LT(number, rig_.world.arrived.size());
      EXPECT_EQ(rig_.world.arrived[number].fetch_add(1), 0u);
      ++rig_.world.messages_got;
    }
    nic.give_back(lane_, std::span(got).first(count));
    std::array<Done, 8> done;
    nic.done(lane_, done);
  }

  Rig& rig_;
  const uint32_t thread_, rank_, lane_;
  Random random_;
  uint32_t posted_ = 0;
  bool has_posted_work_ = false, has_left_ = false, is_drained_ = false;
};

void run_seed(uint64_t seed, const LoopFaults& faults) {
  Rig rig(seed, faults);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&rig, thread, seed] { Worker(rig, thread, seed).run(); });
  std::vector<std::array<uint8_t, 64>> late(kLatePins);
  for (auto& bytes : late) {
    rig.pin(0, bytes.data(), bytes.size());
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rig.world.counters[0] + rig.world.counters[1], rig.world.added);
  for (size_t number = 0; number < rig.world.slots.size(); ++number) {
    const Slot& slot = rig.world.slots[number];
    for (uint32_t i = 0; i < slot.bytes; ++i)
      ASSERT_EQ(slot.target[i], static_cast<uint8_t>(number + 1)) << "put " << number;
  }
  for (auto& nic : rig.nics) EXPECT_EQ(nic->failure(), nullptr);
}

uint64_t seed_of(uint32_t i) {
  return static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed()) * kSeeds + i;
}

TEST(NicThreads, EverythingArrivesOnceFromTwoThreadsOfALane) {
  for (uint32_t i = 0; i < kSeeds; ++i) run_seed(seed_of(i), {});
}

TEST(NicThreads, EverythingArrivesOnceOverABadWire) {
  for (uint32_t i = 0; i < kSeeds; ++i)
    run_seed(seed_of(i), {.loss = 0.02, .duplicate = 0.02, .reorder = 0.05, .corrupt = 0.01});
}

}  // namespace
}  // namespace pinwire

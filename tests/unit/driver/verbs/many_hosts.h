// Many ranks of the verbs driver on a fake network, each with a device of its own, and handlers as
// the engine runs them: one that replies waits for room, and takes replies alone meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "driver/checked.h"
#include "driver/verbs/driver.h"
#include "tests/support/stat_map.h"
#include "tests/support/verbs/fake_verbs.h"

namespace pinwire {

class ManyHosts {
 public:
  static constexpr uint64_t kMemoryBytes = 1 << 16;
  static constexpr uint64_t kHead[2] = {1, 2};

  /// Limits of a device; 0: as much as is wanted.
  struct Limits {
    int receives_max = 0;  ///< of a shared receive queue
    int completions_max = 0;
    uint64_t memory_bytes = kMemoryBytes;  ///< of each host
    uint32_t peers_max = 0;                ///< VerbsOptions
    Rank bounded_ranks = ~Rank{0};         ///< the first so many have that bound, the others none
    uint32_t connect_timeout_s = 600;      ///< VerbsOptions
    bool has_threads = false;              ///< connectors have, as in production
    uint32_t lanes = 1;
  };

  ManyHosts(Rank ranks, uint32_t depth, uint64_t seed = 1,
            Limits limits = {0, 0, kMemoryBytes, 0, ~Rank{0}, 600, false, 1})
      : ManyHosts(ranks, Devices{ranks}, seed, limits) {
    for (Rank rank = 0; rank < ranks; ++rank) open(rank, depth);
    for (Rank rank = 0; rank < ranks; ++rank) connect(rank);
  }
  /// None is open yet. Where there are fewer devices than ranks, rank 0 has one to itself.
  struct Devices {
    Rank count;
  };
  ManyHosts(Rank ranks, Devices devices, uint64_t seed, Limits limits)
      : fabric_(seed), hosts_(ranks), devices_(devices.count), limits_(limits) {
    // The contents of sources and buffers meanwhile are for other tests: these ones are long.
    fabric_.set_strictness(
        {.stable_sources = false, .poisoned_receives = false, .late_reads = false});
    for (Rank device = 0; device < devices_; ++device) {
      auto spec = fake_verbs::infiniband(name_of(device), static_cast<uint16_t>(device + 1));
      if (limits.receives_max != 0) spec.limits.max_srq_wr = limits.receives_max;
      if (limits.completions_max != 0) spec.limits.max_cqe = limits.completions_max;
      fabric_.add(spec);
    }
  }
  virtual ~ManyHosts() {
    for (Host& host : hosts_) host.driver.reset();
    EXPECT_EQ(fabric_.live(), std::vector<std::string>());
    EXPECT_EQ(fabric_.violations(), std::vector<std::string>());
  }

  /// Everybody has sent a request to each of the first `targets` ranks, and has its reply.
  void meet(Rank targets) {
    uint64_t sent = 0;
    for (Rank from = 0; from < ranks(); ++from) {
      for (Rank to = 0; to < targets; ++to) {
        if (from == to) continue;
        while (!post(from, message(from, to, MessageClass::kRequest))) all_turn();
        ++sent;
      }
    }
    ASSERT_TRUE(reaches(2 * sent));
    for (Host& host : hosts_) host.handled = host.answered = host.finished = 0;
    ASSERT_TRUE(fabric_.run());
    fabric_.reset_counters();
  }
  void meet() { meet(ranks()); }

  Rank ranks() const { return static_cast<Rank>(hosts_.size()); }
  fake_verbs::Fabric& fabric() { return fabric_; }
  bool post(Rank from, const Work& work) { return at(from).post(0, {&work, 1}) == 1; }

  Work message(Rank from, Rank to, MessageClass cls, uint64_t payload_bytes = 0) {
    Work work{};
    work.op = Op::kSend;
    work.cls = cls;
    work.flags = kWorkCopied | kWorkSilent;
    work.head_bytes = sizeof kHead;
    work.peer = to;
    work.head = kHead;
    work.local = hosts_[from].memory.data();
    work.bytes = payload_bytes;
    return work;
  }
  /// Work of a request's class, as extended/rma/transfer.cc posts it.
  Work one_sided(Op op, Rank from, Rank to, uint64_t bytes, bool is_copied) {
    Work work{};
    work.op = op;
    work.cls = MessageClass::kRequest;
    work.flags = is_copied && op == Op::kPut ? kWorkCopied : 0;
    work.peer = to;
    work.cookie = 1;
    work.local = hosts_[from].memory.data();
    work.bytes = bytes;
    work.local_key = is_copied ? kNoRegion : hosts_[from].region.local_key;
    work.remote = hosts_[to].region.base + kMemoryBytes / 2;
    work.remote_key = hosts_[to].region.remote_key;
    return work;
  }

  /// As drain_lane() does, up to where a handler finds no room for its reply, which is tried again
  /// the next time: then false.
  bool turn(Rank rank) {
    Host& host = hosts_[rank];
    if (host.handled_here == host.found) take_batch(rank);
    while (host.handled_here < host.found) {
      const Recv& request = host.batch[host.handled_here];
      if (!post(rank, reply_to(rank, request))) {
        take_replies(rank);
        return false;
      }
      on_message(rank, request);
      ++host.handled_here;
      ++host.handled;
    }
    if (host.found != 0) host.driver->give_back(0, {host.batch, host.found});
    host.found = host.handled_here = 0;
    take_done(rank);
    return true;
  }
  void all_turn() {
    for (Rank rank = 0; rank < ranks(); ++rank) turn(rank);
  }
  /// Handled requests, replies taken, and Dones of all ranks.
  uint64_t ended() const {
    uint64_t sum = 0;
    for (const Host& host : hosts_) sum += host.handled + host.answered + host.finished;
    return sum;
  }
  /// Whether that becomes `all` before it stands still for ever.
  bool reaches(uint64_t all) {
    constexpr uint32_t kStillMax = 20'000;
    uint64_t last = ended();
    for (uint32_t still = 0; last < all && still < kStillMax; ++still) {
      all_turn();
      if (ended() != last) still = 0;
      last = ended();
    }
    return last == all;
  }
  uint64_t finished(Rank rank) const { return hosts_[rank].finished; }
  uint64_t stat(Rank rank, const char* name) { return stat_of(at(rank), name); }
  /// The statistic of all ranks together.
  uint64_t stat(const char* name) {
    uint64_t sum = 0;
    for (Rank rank = 0; rank < ranks(); ++rank) sum += stat(rank, name);
    return sum;
  }
  static std::string name_of(Rank rank) { return "host" + std::to_string(rank); }
  Driver& at(Rank rank) { return *hosts_[rank].driver; }

 protected:
  /// Tests that look at the data do so here.
  virtual void on_message(Rank at, const Recv& message) { (void)at, (void)message; }
  virtual void on_done(Rank at, const Done& done) { (void)at, (void)done; }
  virtual Work reply_to(Rank at, const Recv& request) {
    return message(at, request.peer, MessageClass::kReply);
  }

  struct Host {
    std::unique_ptr<Driver> driver;
    std::vector<std::byte> memory;
    Region region = {};
    Recv batch[32];  ///< requests
    uint32_t found = 0, handled_here = 0;
    uint64_t handled = 0, answered = 0, finished = 0;
  };

  void open(Rank rank, uint32_t depth) {
    VerbsOptions options;
    options.device = name_of(rank == 0 ? 0 : 1 + (rank - 1) % (devices_ - 1));
    options.connects_in_polls = !limits_.has_threads;
    options.peers_max = rank < limits_.bounded_ranks ? limits_.peers_max : 0;
    options.connect_timeout_s = limits_.connect_timeout_s;
    auto made = make_verbs_driver(options);
    ASSERT_TRUE(made.ok()) << made.sentence();
    Host& host = hosts_[rank];
    host.driver = make_checked(std::move(*made));
    const Status opened = host.driver->open({.rank = rank,
                                             .rank_count = ranks(),
                                             .lanes = limits_.lanes,
                                             .job_key = 9,
                                             .network_depth = depth});
    ASSERT_TRUE(opened.ok()) << opened.sentence();
    host.memory.resize(limits_.memory_bytes);
    auto pinned = host.driver->pin(host.memory.data(), limits_.memory_bytes, -1, 0);
    ASSERT_TRUE(pinned.ok()) << pinned.sentence();
    host.region = *pinned;
  }
  void connect(Rank rank) {
    for (Rank peer = 0; peer < ranks(); ++peer) {
      if (peer != rank) connect(rank, peer);
    }
  }
  void connect(Rank rank, Rank peer) {
    const Status connected = at(rank).connect(peer, at(peer).address());
    ASSERT_TRUE(connected.ok()) << connected.sentence();
  }
  /// Replies are handled first.
  void take_batch(Rank rank) {
    Host& host = hosts_[rank];
    const uint32_t count = host.driver->recv(0, RecvFilter::kAll, host.batch);
    uint32_t replies = 0;
    while (replies < count && host.batch[replies].cls == MessageClass::kReply) {
      on_message(rank, host.batch[replies++]);
    }
    if (replies != 0) host.driver->give_back(0, {host.batch, replies});
    host.answered += replies;
    std::copy(host.batch + replies, host.batch + count, host.batch);
    host.found = count - replies;
  }
  void take_replies(Rank rank) {
    Host& host = hosts_[rank];
    Recv replies[32];
    const uint32_t count = host.driver->recv(0, RecvFilter::kRepliesOnly, replies);
    for (uint32_t i = 0; i < count; ++i) on_message(rank, replies[i]);
    if (count != 0) host.driver->give_back(0, {replies, count});
    host.answered += count;
    take_done(rank);
  }
  void take_done(Rank rank) {
    Host& host = hosts_[rank];
    Done done[32];
    const uint32_t count = host.driver->done(0, done);
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(done[i].status, WorkStatus::kOk);
      on_done(rank, done[i]);
    }
    host.finished += count;
  }

  fake_verbs::Fabric fabric_;
  std::vector<Host> hosts_;
  Rank devices_;
  Limits limits_;
};

}  // namespace pinwire

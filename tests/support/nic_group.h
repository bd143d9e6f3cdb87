// Several NICs on one loop wire, in one thread, with one clock: the bench on which nicfw's tests
// stand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "nicfw/nic.h"
#include "tests/support/loop_port.h"
#include "tests/support/stat_map.h"

namespace pinwire {

class NicGroup {
 public:
  static constexpr uint64_t kJobKey = 0x1234567890abcdef;
  struct Options {
    uint32_t ranks = 2;
    uint32_t frame_bytes_max = 1514;
    uint32_t rx_buffers = 256;
    uint32_t network_depth = 64;
    uint32_t lanes = 1;
    NicConfig config{};
    std::vector<bool> memory_medium{};  ///< of each rank's port; missing: false
    uint64_t speed_bits_per_s = 0;      ///< of all ports; 0: unknown
  };
  explicit NicGroup(const Options& options) : options_(options) {
    for (uint32_t r = 0; r < options.ranks; ++r) {
      ports_.push_back(std::make_unique<LoopPort>(
          static_cast<uint8_t>(r + 1), options.frame_bytes_max, options.rx_buffers, options.lanes));
      if (r != 0) ports_[r]->join(*ports_[0]);
      ports_[r]->set_memory_medium(r < options.memory_medium.size() && options.memory_medium[r]);
      ports_[r]->set_speed(options.speed_bits_per_s);
      NicConfig config = options.config;
      config.seed += r;
      nics_.push_back(make_nic(*ports_[r], clock_, config));
      OpenInfo info;
      info.rank = r;
      info.rank_count = options.ranks;
      info.lanes = options.lanes;
      info.job_key = kJobKey;
      info.network_depth = options.network_depth;
      const Status opened = nics_[r]->open(info);
      EXPECT_TRUE(opened.ok());
    }
    for (auto& nic : nics_) {
      for (uint32_t r = 0; r < options.ranks; ++r) {
        const Status connected = nic->connect(r, nics_[r]->address());
        EXPECT_TRUE(connected.ok());
      }
    }
  }

  Driver& nic(uint32_t rank) { return *nics_[rank]; }
  LoopPort& port(uint32_t rank) { return *ports_[rank]; }
  ManualClock& clock() { return clock_; }
  uint64_t stat(uint32_t rank, const char* name) { return stat_of(*nics_[rank], name); }
  /// Polls a rank once and gives everything back; the first word of each message.
  std::vector<uint64_t> poll(uint32_t rank, RecvFilter filter = RecvFilter::kAll,
                             uint32_t lane = 0) {
    Recv out[64];
    std::vector<uint64_t> words;
    const uint32_t count = nics_[rank]->recv(lane, filter, out);
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(out[i].data) % 16, 8u);
      uint64_t word = 0;
      std::memcpy(&word, out[i].data, sizeof word);
      words.push_back(word);
    }
    nics_[rank]->give_back(lane, std::span(out, count));
    return words;
  }
  /// Polls all ranks `rounds` times; the messages that rank `collect` got.
  std::vector<uint64_t> run(uint32_t rounds, uint32_t collect = 0, uint64_t pause_ns = 0) {
    std::vector<uint64_t> words;
    for (uint32_t round = 0; round < rounds; ++round) {
      for (uint32_t r = 0; r < nics_.size(); ++r) {
        const auto got = poll(r);
        if (r == collect) words.insert(words.end(), got.begin(), got.end());
      }
      clock_.advance(pause_ns);
    }
    return words;
  }
  bool post(uint32_t rank, const Work& work) { return nics_[rank]->post(0, {&work, 1}) == 1; }
  std::vector<Done> dones(uint32_t rank) {
    Done done[64];
    std::vector<Done> all;
    while (const uint32_t count = nics_[rank]->done(0, done))
      all.insert(all.end(), done, done + count);
    return all;
  }
  Region pin(uint32_t rank, void* base, uint64_t bytes) {
    return nics_[rank]->pin(base, bytes, -1, 0).value();
  }

  void set_faults(LoopFaults faults) {
    for (auto& port : ports_) {
      port->set_faults(faults);
      faults.seed += 17;
    }
  }

 private:
  Options options_;
  ManualClock clock_;
  std::vector<std::unique_ptr<LoopPort>> ports_;
  std::vector<std::unique_ptr<Driver>> nics_;
};

inline Work send_work(Rank peer, MessageClass cls, const void* head, uint8_t head_bytes) {
  Work work{};
  work.op = Op::kSend;
  work.cls = cls;
  work.flags = kWorkSilent;
  work.head_bytes = head_bytes;
  work.peer = peer;
  work.head = head;
  return work;
}

inline Work put_work(Rank peer, const void* local, uint64_t bytes, const void* remote,
                     uint32_t key) {
  Work work{};
  work.op = Op::kPut;
  work.peer = peer;
  work.local = const_cast<void*>(local);
  work.bytes = bytes;
  work.remote = reinterpret_cast<uint64_t>(remote);
  work.remote_key = key;
  return work;
}

inline Work get_work(Rank peer, void* local, uint64_t bytes, const void* remote, uint32_t key) {
  Work work = put_work(peer, local, bytes, remote, key);
  work.op = Op::kGet;
  return work;
}

inline Work atomic_work(Rank peer, const AtomicOperands* operands, uint64_t* old,
                        const void* remote, uint32_t key) {
  Work work = put_work(peer, old, sizeof(uint64_t), remote, key);
  work.op = operands->code == AtomicCode::kCompareSwap ? Op::kCompareSwap : Op::kFetchOp;
  work.head = operands;
  return work;
}

inline std::vector<uint8_t> byte_pattern(size_t bytes, uint64_t seed = 1) {
  Random random(seed);
  std::vector<uint8_t> data(bytes);
  for (auto& byte : data) byte = static_cast<uint8_t>(random.next());
  return data;
}

/// Rank 0 posts requests until rank 1, which polls only for replies, has no more room.
inline void fill_with_requests(NicGroup& group) {
  const uint64_t word = 1;
  for (int round = 0; round < 300; ++round) {
    group.post(0, send_work(1, MessageClass::kRequest, &word, 8));
    group.poll(1, RecvFilter::kRepliesOnly);
    group.poll(0);
    group.clock().advance(10'000);
  }
  ASSERT_FALSE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
}

}  // namespace pinwire

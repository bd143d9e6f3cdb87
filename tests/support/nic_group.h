// Several NICs on one loop wire, in one thread, with one clock: the bench on which nicfw's tests
// stand.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nicfw/nic.h"
#include "tests/support/loop_port.h"

namespace pinwire {

struct StatMap final : StatSink {
  std::map<std::string, uint64_t> values;
  void stat(const char* name, uint64_t value) noexcept override { values[name] = value; }
};

class NicGroup {
 public:
  struct Options {
    uint32_t ranks = 2;
    uint32_t frame_bytes_max = 1514;
    uint32_t rx_buffers = 256;
    uint32_t network_depth = 64;
    NicConfig config{};
  };
  explicit NicGroup(const Options& options) : options_(options) {
    for (uint32_t r = 0; r < options.ranks; ++r) {
      ports_.push_back(std::make_unique<LoopPort>(static_cast<uint8_t>(r + 1),
                                                  options.frame_bytes_max, options.rx_buffers));
      if (r != 0) ports_[r]->join(*ports_[0]);
      NicConfig config = options.config;
      config.seed += r;
      nics_.push_back(make_nic(*ports_[r], clock_, config));
      OpenInfo info;
      info.rank = r;
      info.rank_count = options.ranks;
      info.job_key = 0x1234567890abcdef;
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
  uint64_t stat(uint32_t rank, const char* name) {
    StatMap map;
    nics_[rank]->stats(map);
    EXPECT_TRUE(map.values.contains(name)) << name;
    return map.values[name];
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

}  // namespace pinwire

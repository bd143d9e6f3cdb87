// Rank 0 and its only peer: a driver that keeps what rank 0 sends, and what arrives in return.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "am/handlers/dispatch.h"
#include "am/message/message.h"
#include "pin/demand.h"
#include "tests/support/idle_driver.h"
#include "tests/unit/am/held_lane.h"

namespace pinwire::test {

constexpr Rank kOnePeer = 1;

class OnePeer final : public IdleDriver {
 public:
  std::vector<uint8_t> handlers;  ///< of each message that was taken
  std::vector<int32_t> last_args;
  std::vector<Work> messages;  ///< that were taken without a put
  std::vector<Work> moved;     ///< puts and gets that were taken, lists of pieces, too
  struct List {
    uint64_t remote;
    std::vector<std::byte> bytes;
  };
  std::vector<List> lists;  ///< of kScatter; their memory is the sender's again
  uint32_t pins = 0;        ///< at present
  bool has_room = true, can_pin = true;
  bool finishes = true;                               ///< a poll tells that puts and gets are done
  uint32_t local_key = kNoRegion, remote_key = 1000;  ///< of what is pinned
  Caps all_caps;
  std::function<void()> at_poll;  ///< once

  Caps caps() const noexcept override { return all_caps; }
  Result<Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    if (!can_pin) return error("it is full");
    ++pins;
    Region region{};
    region.base = reinterpret_cast<uint64_t>(base);
    region.bytes = bytes;
    region.local_key = local_key;
    region.remote_key = remote_key;
    return region;
  }
  Status unpin(const Region&) override {
    --pins;
    return success();
  }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv>) noexcept override {
    if (auto happens = std::exchange(at_poll, nullptr)) happens();
    return 0;
  }
  uint32_t post(uint32_t, std::span<const Work> works) noexcept override {
    if (!has_room) return 0;
    for (const Work& work : works) {
      EXPECT_EQ(work.peer, kOnePeer);
      (work.op == Op::kSend ? messages : moved).push_back(work);
      const auto* local = static_cast<const std::byte*>(work.local);
      if (work.op == Op::kScatter) lists.push_back({work.remote, {local, local + work.bytes}});
      if (work.head == nullptr) continue;
      AmHeader header;
      std::memcpy(&header, work.head, sizeof header);
      handlers.push_back(header.handler);
      last_args.resize(header.argc());
      if (last_args.empty()) continue;
      std::memcpy(last_args.data(), static_cast<const std::byte*>(work.head) + sizeof header,
                  4 * last_args.size());
    }
    return static_cast<uint32_t>(works.size());
  }
  uint32_t done(uint32_t, std::span<Done> out) noexcept override {
    uint32_t count = 0;
    while (finishes && count < out.size() && finished_ < moved.size())
      out[count++] = {moved[finished_++].cookie, WorkStatus::kOk};
    return count;
  }

 private:
  size_t finished_ = 0;  ///< of those that were moved
};

class WithOnePeer : public testing::Test {
 protected:
  void SetUp() override {
    engine.drivers[0].driver = &driver;
    engine.drivers[0].caps = driver.caps();
    engine.driver_count = 1;
    engine.rank_count = 2;
    engine.routes = routes;
    routes[kOnePeer].driver = &driver;
    demands[0] = &demand;
  }
  void TearDown() override {
    demands[0] = nullptr;
    engine.drivers[0].driver = nullptr;
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
    engine.rank_count = 1;
    engine.routes = nullptr;
  }
  /// A Short of the peer.
  template <size_t kArguments>
  static void arrive(MessageClass cls, uint8_t handler, const int32_t (&args)[kArguments]) {
    AmHead head;
    const uint32_t bytes = build_head(head, Category::kShort, handler, kArguments, args, 0, 0);
    alignas(16) std::byte buffer[8 + sizeof head];
    std::memcpy(buffer + 8, &head, bytes);
    const HeldLane held;
    dispatch(0, {buffer + 8, bytes, kOnePeer, 0, cls});
  }

  OnePeer driver;
  Route routes[2];
  Demand demand;
};

}  // namespace pinwire::test

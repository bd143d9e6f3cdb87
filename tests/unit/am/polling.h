// A lane whose driver brings and takes what a test says, for tests of polls, posts and waits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "am/handlers/handlers.h"
#include "am/message/message.h"
#include "am/wait/wait.h"
#include "core/engine/engine.h"
#include "tests/support/cancel_state.h"
#include "tests/support/idle_driver.h"

namespace pinwire::test {

// Counts of the stand-ins for sched_yield() and nanosleep() (tests/unit/am/wait/wait_test.cc).
inline uint32_t breaths = 0, yields = 0;
inline uint32_t cancellable = 0;  ///< breaths and handlers in which the thread could be cancelled

/// Serves puts of peers, or nothing, and brings as many messages at each poll as it is told.
class ServingDriver final : public IdleDriver {
 public:
  bool serves = false;
  uint32_t brings = 0, polls = 0;
  uint32_t takes_at = 0;      ///< the poll from which on there is room
  bool waits_inside = false;  ///< another thread begins to wait for the lane during the poll
  RecvFilter filter = RecvFilter::kAll;  ///< of the last poll

  bool idle(uint32_t) const noexcept override { return !serves; }
  uint32_t post(uint32_t, std::span<const Work> works) noexcept override {
    return polls >= takes_at ? static_cast<uint32_t>(works.size()) : 0;
  }
  uint32_t recv(uint32_t, RecvFilter wanted, std::span<Recv> out) noexcept override {
    ++polls;
    filter = wanted;
    if (waits_inside) engine.drivers[0].lanes[0].waiting.store(1);
    AmHead head;
    const uint32_t bytes = build_head(head, Category::kShort, kHandler, 0, nullptr, 0, 0);
    std::memcpy(buffer_ + 8, head.words, bytes);
    const uint32_t count = std::min(brings, static_cast<uint32_t>(out.size()));
    for (uint32_t i = 0; i < count; ++i) out[i] = {buffer_ + 8, bytes, 1, 0, MessageClass::kReply};
    return count;
  }

  static constexpr uint8_t kHandler = 201;

 private:
  alignas(16) std::byte buffer_[64];
};

inline void on_nothing(pinwire_token*) { cancellable += may_be_cancelled(); }

class Polling : public testing::Test {
 protected:
  void SetUp() override {
    handler_table[ServingDriver::kHandler] =
        reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(on_nothing));
    engine.drivers[0].driver = &driver;
    engine.driver_count = 1;
    engine.rank_count = 2;
    engine.routes = routes;
    routes[1].driver = &driver;
    this_thread.stream_found = this_thread.empty_polls = 0;
    this_thread.has_sent = false;
    cancellable = 0;
  }
  void TearDown() override {
    engine.drivers[0].driver = nullptr;
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
    engine.rank_count = 1;
    engine.routes = nullptr;
    engine.threads_live = threads_;
    engine.spinners_max = ~0u;
    set_wait_mode(WaitMode::kSpin);
  }
  /// Waits give their core away at once.
  void crowd() {
    engine.threads_live = 1;
    engine.spinners_max = 0;
    set_wait_mode(WaitMode::kSpin);
    yields = breaths = 0;
  }
  static Work put() {
    Work work{};
    work.op = Op::kPut;
    work.flags = kWorkSilent;
    work.peer = 1;
    return work;
  }

  ServingDriver driver;
  Route routes[2];
  const uint32_t threads_ = engine.threads_live.load();
};

}  // namespace pinwire::test

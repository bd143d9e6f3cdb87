// The active messages between the ranks of flood, and what their handlers keep.
//
// Handlers run on the thread that polls, or in a signal upon it, one at a time: so counters are
// atomics with one writer, a plain load, add and store, not a locked instruction on the path that
// is measured. In the dispatch modes with a thread of the library that runs handlers, it is locked.
#pragma once

#include <gasnet.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "bench/flood/host/port_stats.h"
#include "bench/flood/numbers/figures.h"
#include "bench/flood/plan/traffic_mode.h"

namespace pinwire::flood {

enum Handler : gasnet_handler_t {
  kPingShort = 128,  // C1-076: 128 … 255 are for clients
  kPingMedium,
  kPingLong,
  kPong,
  kPongPayload,
  kOneWayShort,
  kOneWayPayload,
  kAskedShort,
  kAskedPayload,
  kAskCount,
  kTellCount,
  kOrderHandler,
  kOrderDone,
  kAskSnapshot,
  kTellSnapshot,
  kInterrupted,
};

std::span<gasnet_handlerentry_t> handlers();

/// Several threads run handlers. Constant from attach on.
inline bool handlers_run_at_once = false;

/// Handlers write, any thread reads; what the handler wrote before is seen with it.
class Counter {
 public:
  uint64_t get() const noexcept { return value_.load(std::memory_order_acquire); }
  void add(uint64_t more) noexcept {
    if (handlers_run_at_once) {
      value_.fetch_add(more, std::memory_order_release);
    } else {
      value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_release);
    }
  }
  void set(uint64_t value) noexcept { value_.store(value, std::memory_order_release); }

 private:
  std::atomic<uint64_t> value_{0};
};

/// Messages that arrived at this rank, and that its handlers sent, since the start.
struct Mail {
  Counter requests, request_bytes;  ///< from the partner
  Counter pongs, pong_bytes;        ///< replies to this rank's requests
  Counter replies, reply_bytes;     ///< sent by the handlers
  Counter counts_told, count_told;  ///< answers to kAskCount: how many, the last
};
inline Mail mail;

/// Rank 0 directs, the others carry out one order at a time and report.
struct Order {
  enum class Kind : uint8_t { kMeasure, kRun, kHalt, kNap, kBarrier, kLeave };
  Kind kind = Kind::kHalt;
  bool tx_first = false;    ///< kRun
  uint32_t index = 0;       ///< kMeasure: of the plan
  uint32_t nap_ms = 0;      ///< kNap
  uint64_t count = 0;       ///< kBarrier
  int32_t exit_code = 0;    ///< kLeave
  TrafficSettings traffic;  ///< kRun
};

/// The facts that a rank tells about itself.
struct Snapshot {
  PortCounters port;
  double cpu_s = 0;
  int32_t cpu = -1;  ///< where it runs
};

// Rank 0's side. They poll until the others have answered.
void send_order(gasnet_node_t rank, const Order& order);
/// Waits until `count` orders were carried out; the figures of those that measured are in
/// `reports`.
void await_orders(uint32_t count);
std::span<const Figures> reports();
void clear_reports();
Snapshot ask_snapshot(gasnet_node_t rank);
Snapshot local_snapshot();

// The others' side.
bool take_order(Order& order);
void report_order_done(const Figures* figures);
void answer_questions();
void tell_interrupted();

/// How many requests the partner has received since its start: one AM round trip.
uint64_t ask_count(gasnet_node_t partner);

/// Gives the CPU away between two polls, where ranks share CPUs.
inline bool yielding = false;
inline void poll_network() noexcept {
  gasnet_AMPoll();
  if (yielding) ::sched_yield();
}

/// Messages that this rank issued itself; replies are counted by the handlers.
struct Issued {
  uint64_t requests = 0;  ///< AMs
  uint64_t tx_messages = 0, tx_bytes = 0;
  uint64_t rx_messages = 0, rx_bytes = 0;  ///< gets that completed
};
inline Issued issued;

}  // namespace pinwire::flood

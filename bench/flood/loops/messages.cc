#include "bench/flood/loops/messages.h"

#include <sched.h>

#include <cstring>
#include <vector>

#include "bench/flood/host/driver_facts.h"
#include "bench/flood/host/stop.h"
#include "bench/flood/numbers/stopwatch.h"
#include "core/base/check.h"

namespace pinwire::flood {
namespace {

constexpr uint32_t kRanksReportingMax = 4096;

struct Box {
  std::atomic<bool> order_waits{false};
  Order order;
  std::atomic<int64_t> asker{-1};  ///< the rank that waits for a snapshot
  Counter orders_done;
  Counter snapshots_told;
  Snapshot snapshot;
  gasnet_hsl_t reports_lock = GASNET_HSL_INITIALIZER;
  std::vector<Figures> reports;
};
Box box;

gasnet_handlerarg_t high_half(uint64_t value) {
  return static_cast<gasnet_handlerarg_t>(value >> 32);
}
gasnet_handlerarg_t low_half(uint64_t value) {
  return static_cast<gasnet_handlerarg_t>(value & UINT32_MAX);
}
uint64_t from_halves(gasnet_handlerarg_t high, gasnet_handlerarg_t low) {
  return static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low);
}

void got_request(size_t bytes) {
  mail.requests.add(1);
  if (bytes != 0) mail.request_bytes.add(bytes);
}
void sent_reply(size_t bytes) {
  mail.replies.add(1);
  if (bytes != 0) mail.reply_bytes.add(bytes);
}

void on_ping_short(gasnet_token_t token) {
  got_request(0);
  gasnet_AMReplyShort0(token, kPong);
  sent_reply(0);
}
void on_ping_medium(gasnet_token_t token, void* payload, size_t bytes) {
  got_request(bytes);
  gasnet_AMReplyMedium0(token, kPongPayload, payload, bytes);
  sent_reply(bytes);
}
void on_ping_long(gasnet_token_t token, void* payload, size_t bytes, gasnet_handlerarg_t high,
                  gasnet_handlerarg_t low) {
  got_request(bytes);
  void* landing = reinterpret_cast<void*>(static_cast<uintptr_t>(from_halves(high, low)));
  gasnet_AMReplyLong0(token, kPongPayload, payload, bytes, landing);
  sent_reply(bytes);
}
void on_pong(gasnet_token_t) { mail.pongs.add(1); }
void on_pong_payload(gasnet_token_t, void*, size_t bytes) {
  mail.pong_bytes.add(bytes);
  mail.pongs.add(1);
}
void on_one_way_short(gasnet_token_t) { got_request(0); }
void on_one_way_payload(gasnet_token_t, void*, size_t bytes) { got_request(bytes); }
void on_asked_short(gasnet_token_t token) { on_ping_short(token); }
void on_asked_payload(gasnet_token_t token, void*, size_t bytes) {
  got_request(bytes);
  gasnet_AMReplyShort0(token, kPong);
  sent_reply(0);
}
void on_ask_count(gasnet_token_t token) {
  const uint64_t count = mail.requests.get();
  gasnet_AMReplyShort2(token, kTellCount, high_half(count), low_half(count));
}
void on_tell_count(gasnet_token_t, gasnet_handlerarg_t high, gasnet_handlerarg_t low) {
  mail.count_told.set(from_halves(high, low));
  mail.counts_told.add(1);
}
void on_order(gasnet_token_t, void* payload, size_t bytes) {
  check(bytes == sizeof(Order), "an order of the wrong size", bytes);
  check(!box.order_waits.load(std::memory_order_acquire), "an order before the last was done");
  std::memcpy(&box.order, payload, sizeof(Order));
  box.order_waits.store(true, std::memory_order_release);  // pairs with take_order
}
void on_order_done(gasnet_token_t, void* payload, size_t bytes) {
  check(bytes == 0 || bytes == sizeof(Figures), "a report of the wrong size", bytes);
  if (bytes != 0) {
    gasnet_hsl_lock(&box.reports_lock);
    check(box.reports.size() < box.reports.capacity(), "more reports than ranks");
    std::memcpy(&box.reports.emplace_back(), payload, sizeof(Figures));
    gasnet_hsl_unlock(&box.reports_lock);
  }
  box.orders_done.add(1);
}
void on_ask_snapshot(gasnet_token_t token) {
  gasnet_node_t asker = 0;
  gasnet_AMGetMsgSource(token, &asker);
  box.asker.store(asker, std::memory_order_relaxed);
}
void on_tell_snapshot(gasnet_token_t, void* payload, size_t bytes) {
  check(bytes == sizeof(Snapshot), "a snapshot of the wrong size", bytes);
  std::memcpy(&box.snapshot, payload, sizeof(Snapshot));
  box.snapshots_told.add(1);
}
void on_interrupted(gasnet_token_t) { request_stop(); }

template <typename Function>
gasnet_handlerentry_t entry_of(Handler index, Function* function) {
  return {static_cast<gasnet_handler_t>(index), reinterpret_cast<void (*)()>(function)};
}

}  // namespace

std::span<gasnet_handlerentry_t> handlers() {
  static gasnet_handlerentry_t table[] = {
      entry_of(kPingShort, on_ping_short),
      entry_of(kPingMedium, on_ping_medium),
      entry_of(kPingLong, on_ping_long),
      entry_of(kPong, on_pong),
      entry_of(kPongPayload, on_pong_payload),
      entry_of(kOneWayShort, on_one_way_short),
      entry_of(kOneWayPayload, on_one_way_payload),
      entry_of(kAskedShort, on_asked_short),
      entry_of(kAskedPayload, on_asked_payload),
      entry_of(kAskCount, on_ask_count),
      entry_of(kTellCount, on_tell_count),
      entry_of(kOrderHandler, on_order),
      entry_of(kOrderDone, on_order_done),
      entry_of(kAskSnapshot, on_ask_snapshot),
      entry_of(kTellSnapshot, on_tell_snapshot),
      entry_of(kInterrupted, on_interrupted),
  };
  box.reports.reserve(kRanksReportingMax);  // handlers allocate nothing
  return table;
}

void send_order(gasnet_node_t rank, const Order& order) {
  Order copy = order;
  gasnet_AMRequestMedium0(rank, kOrderHandler, &copy, sizeof copy);
}

void await_orders(uint32_t count) {
  while (box.orders_done.get() < count) poll_network();
  box.orders_done.set(0);
}

std::span<const Figures> reports() { return box.reports; }
void clear_reports() { box.reports.clear(); }

Snapshot local_snapshot() {
  Snapshot snapshot;
  const DriverCounters driver = driver_counters();
  snapshot.port = {.rx_messages = mail.requests.get() + mail.pongs.get() + issued.rx_messages,
                   .rx_bytes = mail.request_bytes.get() + mail.pong_bytes.get() + issued.rx_bytes,
                   .rx_missed = driver.frames_missed,
                   .tx_messages = mail.replies.get() + issued.tx_messages,
                   .tx_bytes = mail.reply_bytes.get() + issued.tx_bytes,
                   .rx_frames = driver.frames_received,
                   .tx_frames = driver.frames_sent};
  snapshot.cpu_s = cpu_seconds();
  snapshot.cpu = ::sched_getcpu();
  return snapshot;
}

Snapshot ask_snapshot(gasnet_node_t rank) {
  if (rank == gasnet_mynode()) return local_snapshot();
  const uint64_t told = box.snapshots_told.get();
  gasnet_AMRequestShort0(rank, kAskSnapshot);
  while (box.snapshots_told.get() == told) poll_network();
  return box.snapshot;
}

bool take_order(Order& order) {
  if (!box.order_waits.load(std::memory_order_acquire)) return false;  // pairs with on_order
  order = box.order;
  box.order_waits.store(false, std::memory_order_release);
  return true;
}

void report_order_done(const Figures* figures) {
  Figures copy = figures == nullptr ? Figures{} : *figures;
  gasnet_AMRequestMedium0(0, kOrderDone, &copy, figures == nullptr ? 0 : sizeof copy);
}

void answer_questions() {
  // Not in the handler: counters of drivers and the clocks are no business of a handler.
  if (box.asker.load(std::memory_order_relaxed) < 0) return;
  const int64_t asker = box.asker.exchange(-1, std::memory_order_relaxed);
  Snapshot snapshot = local_snapshot();
  gasnet_AMRequestMedium0(static_cast<gasnet_node_t>(asker), kTellSnapshot, &snapshot,
                          sizeof snapshot);
}

void tell_interrupted() { gasnet_AMRequestShort0(0, kInterrupted); }

uint64_t ask_count(gasnet_node_t partner) {
  const uint64_t told = mail.counts_told.get();
  gasnet_AMRequestShort0(partner, kAskCount);
  GASNET_BLOCKUNTIL(mail.counts_told.get() != told);
  return mail.count_told.get();
}

}  // namespace pinwire::flood

#include "tests/sim/client/client.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "core/base/check.h"
#include "tests/sim/client/pattern.h"

namespace pinwire::sim {
namespace {

constexpr uint32_t kSlotBits = 16;
constexpr std::byte kScribble{0xee};

}  // namespace

Client::Client(Rank rank, Driver& driver, Cluster& cluster)
    : rank_(rank),
      driver_(driver),
      cluster_(cluster),
      scenario_(cluster.scenario),
      caps_(driver.caps()),
      random_(cluster.scenario.seed * 4096 + rank),
      operations_(cluster.scenario.in_flight_max),
      unpinned_(cluster.scenario.in_flight_max),
      unanswered_(cluster.scenario.ranks),
      own_cell_busy_(cluster.scenario.ranks),
      to_start_(cluster.scenario.operations) {
  for (uint32_t i = 0; i < operations_.size(); ++i) operations_[i].slot = i;
}

bool Client::step(Turn turn) {
  bool moved = false;
  if (turn != Turn::kPost) moved |= poll();
  if (turn != Turn::kPoll) moved |= offer();
  if (moved) cluster_.last_progress_ns = cluster_.schedule.now();
  return moved;
}

void Client::heartbeat() {
  constexpr uint32_t kPolls = 64;  // so that a full receive ring is seen to its end
  for (uint32_t i = 0; i < kPolls * scenario_.lanes; ++i) {
    driver_.recv(i % scenario_.lanes, RecvFilter::kRepliesOnly, {});
  }
}

bool Client::poll() {
  bool moved = false;
  cluster_.deadlines.polled(rank_);
  for (uint32_t lane = 0; lane < scenario_.lanes; ++lane) {
    const bool done_first = random_.chance(0.5);
    if (done_first) moved |= complete(lane);
    moved |= receive(lane);
    if (!done_first) moved |= complete(lane);
  }
  moved |= post_replies();
  take_back_lent();
  while (replies_.empty() && !inbox_.empty()) {
    const Arrived first = inbox_.front();
    inbox_.pop_front();
    handle(first);
    moved = true;
  }
  moved |= return_buffers(random_.chance(0.3));
  return moved;
}

/// A handler that waits starts nothing new.
bool Client::offer() {
  const bool moved = post_replies();
  if (!replies_.empty()) return moved;
  start();
  return post() || moved;
}

bool Client::finished() const {
  const bool answered = std::all_of(unanswered_.begin(), unanswered_.end(),
                                    [](uint32_t count) { return count == 0; });
  return to_start_ == 0 && in_flight_ == 0 && answered && replies_.empty() && owed_.empty() &&
         inbox_.empty() && held_.empty() && crime_ == WorkStatus::kOk;
}

Armed Client::arm() {
  Armed all = Armed::kArmed;
  for (uint32_t lane = 0; lane < scenario_.lanes; ++lane) {
    const Armed how = driver_.arm(lane);
    all = std::max(all, how);
    if (how == Armed::kBusy) continue;
    // Nothing can have arrived since: a driver that slept now would sleep on what it already has.
    // A poll would run the timers of one that is armed for a while only, so that one is asked.
    std::array<Recv, 1> recv;
    std::array<Done, 1> done;
    const bool some = how == Armed::kTimed ? driver_.has_arrivals(lane)
                                           : driver_.recv(lane, RecvFilter::kAll, recv) != 0 ||
                                                 driver_.done(lane, done) != 0;
    if (some) {
      cluster_.verdict.fail("rank %u, lane %u: armed, with something to hand out", rank_, lane);
    }
  }
  return all;
}

void Client::commit_crime(Rank victim, WorkStatus status) {
  victim_ = victim;
  crime_ = status;
  crime_due_ = true;
}

bool Client::receive(uint32_t lane) {
  std::array<Recv, 64> batch;
  const bool blocked = !replies_.empty() || !inbox_.empty();
  const uint32_t want = std::clamp(scenario_.recv_burst, 1u, 64u);
  const auto filter = blocked ? RecvFilter::kRepliesOnly : RecvFilter::kAll;
  const uint32_t count = driver_.recv(lane, filter, {batch.data(), want});
  if (count > want) cluster_.verdict.fail("rank %u: recv() gave %u of %u", rank_, count, want);
  for (uint32_t i = 0; i < count && !cluster_.verdict.failed(); ++i) {
    const Arrived arrived{batch[i], lane};
    if (blocked && arrived.recv.cls != MessageClass::kReply) {
      cluster_.verdict.fail("rank %u asked for replies only and got a request", rank_);
    } else if (arrived.recv.cls == MessageClass::kRequest && !replies_.empty()) {
      inbox_.push_back(arrived);
    } else {
      handle(arrived);
    }
  }
  return count > 0;
}

void Client::handle(const Arrived& arrived) {
  Ledger& ledger = cluster_.ledger;
  const uint64_t number = ledger.arrived(rank_, arrived.recv);
  if (number == Message::kNone) return;
  const Message message = ledger[number];
  cluster_.deadlines.end(message.deadline);
  if (cluster_.verdict.tracing()) {
    cluster_.verdict.trace("rank %u got message %lu from %u", rank_, number, message.from);
  }
  if (message.put.bytes > 0) {
    cluster_.shadow.check_put(message.put_id, cluster_.memories[rank_]->windows());
    cluster_.shadow.end_put(message.put_id);
  }
  const uint32_t linger = scenario_.recv_burst >= 8 && random_.chance(0.2) ? 8 : 0;
  held_.push_back({arrived.recv, number, arrived.lane, linger});
  if (message.answers != Message::kNone) --unanswered_[message.from];
  if (message.wants_reply) answer(number, arrived.lane);
}

bool Client::return_buffers(bool all) {
  bool any = false;
  for (size_t left = held_.size(); left > 0; --left) {
    Held held = held_.front();
    held_.pop_front();
    if (held.steps_left > 0 && !all) {
      --held.steps_left;
      held_.push_back(held);
      continue;
    }
    cluster_.ledger.check_bytes(held.message, held.recv);
    driver_.give_back(held.lane, {&held.recv, 1});
    any = true;
  }
  return any;
}

bool Client::complete(uint32_t lane) {
  std::array<Done, 32> batch;
  const uint32_t count = driver_.done(lane, batch);
  if (count > batch.size()) cluster_.verdict.fail("rank %u: done() overran its span", rank_);
  for (uint32_t i = 0; i < count && !cluster_.verdict.failed(); ++i) {
    const uint64_t slot = batch[i].cookie & ((1u << kSlotBits) - 1);
    if (slot >= operations_.size() || !operations_[slot].accepted ||
        operations_[slot].work.cookie != batch[i].cookie || operations_[slot].lane != lane) {
      cluster_.verdict.fail("rank %u, lane %u: a Done (cookie %#lx) for no Work in flight", rank_,
                            lane, batch[i].cookie);
      break;
    }
    finish(operations_[slot], batch[i].status);
  }
  return count > 0;
}

void Client::finish(Operation& operation, WorkStatus status) {
  const Work& work = operation.work;
  const WorkStatus wanted = operation.criminal ? crime_ : WorkStatus::kOk;
  if (status != wanted && (scenario_.crime == Crime::kNone || operation.criminal)) {
    return cluster_.verdict.fail("rank %u: operation %u on rank %u ended with status %u, not %u",
                                 rank_, static_cast<unsigned>(work.op), work.peer,
                                 static_cast<unsigned>(status), static_cast<unsigned>(wanted));
  }
  if (operation.criminal) punished_ = true;
  if (status == WorkStatus::kOk) {
    if (operation.put != 0) cluster_.shadow.end_put(operation.put);
    if (operation.get != 0) {
      cluster_.shadow.end_get(operation.get, {operation.buffer, work.bytes});
    }
    if (work.op == Op::kFetchOp || work.op == Op::kCompareSwap) {
      uint64_t old;
      std::memcpy(&old, work.local, sizeof old);
      cluster_.atomics.result(work.peer, operation.cell, operation.operands, old);
      if (cell_kind(operation.cell) == CellKind::kOwn) own_cell_busy_[work.peer] = false;
    }
  }
  for (const std::byte* fence :
       {operation.buffer - kOperationFenceBytes, operation.buffer + work.bytes}) {
    if (pattern_mismatch({fence, kOperationFenceBytes}, rank_) != kOperationFenceBytes) {
      cluster_.verdict.fail("rank %u: an operation wrote beside its local buffer", rank_);
    }
  }
  std::memset(operation.buffer, static_cast<int>(kScribble), work.bytes);
  release(operation);
}

void Client::release(Operation& operation) {
  cluster_.deadlines.end(operation.deadline);
  operation.used = operation.accepted = false;
  --in_flight_;
}

void Client::start() {
  if (!unposted_.empty() && !scenario_.post_each) return;
  const uint64_t burst = 1 + random_.below(8);
  for (uint64_t i = 0; i < burst; ++i) {
    Operation* const operation = free_operation();
    if (operation == nullptr) break;
    operation->lane = static_cast<uint32_t>(random_.below(scenario_.lanes));
    if (crime_due_) {
      make_crime(*operation);
      crime_due_ = false;
    } else if (to_start_ == 0 || !make(*operation)) {
      break;
    } else {
      --to_start_;
    }
    operation->used = true;
    operation->work.cookie = generation_++ << kSlotBits | operation->slot;
    operation->deadline = cluster_.deadlines.begin(rank_, operation->work.peer, "an operation");
    unposted_.push_back(operation->slot);
    ++in_flight_;
  }
}

bool Client::post() {
  bool any = false;
  for (uint32_t lane = 0; lane < scenario_.lanes; ++lane) any |= post_lane(lane);
  return any;
}

bool Client::post_lane(uint32_t lane) {
  // All of them: behind many to a peer that takes nothing wait those to other peers.
  constexpr uint32_t kInFlightMax = 128;
  std::array<Work, kInFlightMax> batch;
  std::array<uint32_t, kInFlightMax> slots;
  uint32_t count = 0;
  check(unposted_.size() <= kInFlightMax, "more in flight than a client offers at once");
  for (const uint32_t slot : unposted_) {
    if (operations_[slot].lane != lane) continue;
    slots[count] = slot;
    batch[count++] = operations_[slot].work;
  }
  if (count == 0) return false;
  const uint32_t stride = scenario_.post_each ? 1 : count;
  bool any = false;
  for (uint32_t at = 0; at < count; at += stride) {
    any |= post_some(lane, {&batch[at], stride}, {&slots[at], stride});
  }
  return any;
}

bool Client::post_some(uint32_t lane, std::span<const Work> work, std::span<const uint32_t> slots) {
  const uint32_t accepted = driver_.post(lane, work);
  if (accepted > work.size()) {
    cluster_.verdict.fail("rank %u: post() took more than all", rank_);
    return false;
  }
  for (uint32_t i = 0; i < accepted; ++i) {
    std::erase(unposted_, slots[i]);
    after_accept(operations_[slots[i]]);
  }
  if (accepted < work.size() && random_.chance(scenario_.abandon)) {
    abandon(operations_[slots[accepted]]);
  }
  return accepted > 0;
}

/// The driver refused it, and the client does not try again.
void Client::abandon(Operation& operation) {
  if (operation.criminal) return;
  const Rank peer = operation.work.peer;
  if (operation.put != 0) cluster_.shadow.cancel_put(operation.put);
  if (operation.get != 0) cluster_.shadow.cancel_get(operation.get);
  const bool atomic = operation.work.op == Op::kFetchOp || operation.work.op == Op::kCompareSwap;
  if (atomic && cell_kind(operation.cell) == CellKind::kOwn) own_cell_busy_[peer] = false;
  if (operation.message != Message::kNone) {
    const Message& message = cluster_.ledger[operation.message];
    if (message.put.bytes > 0) cluster_.shadow.cancel_put(message.put_id);
    if (message.wants_reply) --unanswered_[peer];
    cluster_.deadlines.end(message.deadline);
  }
  if (operation.lent.payload != nullptr) driver_.take_back(operation.lane, operation.lent);
  std::erase(unposted_, operation.slot);
  release(operation);
}

void Client::after_accept(Operation& operation) {
  operation.accepted = true;
  if (cluster_.verdict.tracing()) {
    cluster_.verdict.trace("rank %u posted operation %u to %u, message %ld, %lu bytes, cookie %#lx",
                           rank_, static_cast<unsigned>(operation.work.op), operation.work.peer,
                           static_cast<long>(operation.message), operation.work.bytes,
                           operation.work.cookie);
  }
  if (operation.message != Message::kNone) cluster_.ledger.posted(operation.message);
  operation.head.fill(kScribble);
  const bool lent = operation.lent.payload != nullptr;  // the driver's again, as it is
  if ((operation.work.flags & kWorkCopied) != 0 && !lent) {
    std::memset(operation.buffer, static_cast<int>(kScribble), operation.work.bytes);
  }
  if ((operation.work.flags & kWorkSilent) == 0) return;
  if ((operation.work.flags & kWorkCopied) == 0) {
    lent_.push_back(operation.slot);
  } else {
    release(operation);
  }
}

/// A silent operation's buffer is the client's again once the peer has seen its message.
void Client::take_back_lent() {
  std::erase_if(lent_, [this](uint32_t slot) {
    Operation& operation = operations_[slot];
    if (cluster_.ledger[operation.message].deliveries == 0) return false;
    std::memset(operation.buffer, static_cast<int>(kScribble), operation.work.bytes);
    release(operation);
    return true;
  });
}

std::string Client::state() const {
  char text[256];
  uint32_t waiting = 0;
  for (const uint32_t count : unanswered_) waiting += count;
  std::snprintf(text, sizeof text,
                "rank %u: %u to start, %u in flight (%zu not accepted), %u unanswered, %zu replies "
                "waiting, %zu owed, %zu in the inbox, %zu held",
                rank_, to_start_, in_flight_, unposted_.size(), waiting, replies_.size(),
                owed_.size(), inbox_.size(), held_.size());
  return text;
}

}  // namespace pinwire::sim

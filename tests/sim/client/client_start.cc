// The parts of a client's operations.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "driver/scatter.h"
#include "tests/sim/client/client.h"
#include "tests/sim/client/pattern.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kSkewMax = 16;
constexpr uint64_t kPinnedShare = 3;  ///< of 4 buffers lie in pinned memory
constexpr uint32_t kRefusalsBeforeLeaving = 128;

}  // namespace

Operation* Client::free_operation() {
  const uint64_t first = random_.below(operations_.size());
  for (uint64_t i = 0; i < operations_.size(); ++i) {
    Operation& operation = operations_[(first + i) % operations_.size()];
    if (operation.used) continue;
    const uint32_t slot = operation.slot;
    operation = Operation{};
    operation.slot = slot;
    return &operation;
  }
  return nullptr;
}

/// Half of the operations that a client has in flight stay for peers that poll.
bool Client::much_under_way_to_absent() const {
  const auto count = std::count_if(operations_.begin(), operations_.end(), [this](const auto& one) {
    return one.used && away(one.work.peer);
  });
  return static_cast<size_t>(count) >= operations_.size() / 2;
}

Rank Client::draw_peer() {
  const uint64_t others = scenario_.ranks - 1;
  if (scenario_.absent_ranks > 0 && !away(rank_) && much_under_way_to_absent()) {
    const uint64_t attentive = scenario_.ranks - scenario_.absent_ranks;
    if (attentive > 1) {
      return static_cast<Rank>((rank_ + 1 + random_.below(attentive - 1)) % attentive);
    }
  }
  const uint64_t step =
      scenario_.peers_max == 0 ? random_.below(others) : random_.below(scenario_.peers_max) * 37;
  return static_cast<Rank>((rank_ + 1 + step % others) % scenario_.ranks);
}

/// Mostly small, sometimes about as long as a frame, sometimes anything.
uint64_t Client::draw_bytes(uint64_t bytes_max) {
  uint64_t bytes = 0;
  switch (random_.below(6)) {
    case 0:
      bytes = 0;
      break;
    case 1:
    case 2:
      bytes = random_.below(64);
      break;
    case 3:
      bytes = random_.below(1024);
      break;
    case 4:
      bytes = scenario_.frame_bytes_max - 160 + random_.below(200);
      break;
    default:
      bytes = random_.below(bytes_max + 1);
      break;
  }
  return std::min({bytes, bytes_max, scenario_.message_bytes_max - kSkewMax});
}

uint8_t Client::draw_head_bytes() {
  return static_cast<uint8_t>(8 * (1 + random_.below(kHeadBytesMax / 8)));
}

void Client::lend_head(Operation& operation, const void* bytes, uint8_t count) {
  std::memcpy(operation.head.data(), bytes, count);
  operation.work.head = operation.head.data();
  operation.work.head_bytes = count;
}

/// A buffer of `bytes` between fences: pinned and named by its key, pinned and not named, or
/// neither.
void Client::lend_memory(Operation& operation, uint64_t bytes) {
  Memory& memory = *cluster_.memories[rank_];
  const bool pinned = random_.below(4) < kPinnedShare;
  auto& other = unpinned_[operation.slot];
  if (!pinned) other.resize(scenario_.message_bytes_max + 2 * kSlotFenceBytes);
  std::byte* const slot = pinned ? memory.slot(operation.slot) : other.data() + kSlotFenceBytes;
  operation.buffer = slot + (random_.chance(0.5) ? 0 : random_.below(kSkewMax));
  fill_pattern({operation.buffer - kOperationFenceBytes, kOperationFenceBytes}, rank_);
  fill_pattern({operation.buffer + bytes, kOperationFenceBytes}, rank_);
  operation.work.local = operation.buffer;
  operation.work.bytes = bytes;
  const bool named = pinned && (caps_.needs_local_key || random_.chance(0.8));
  operation.work.local_key = named ? memory.region.local_key : kNoRegion;
}

/// Payload in memory that the driver lends. False: it has none now, or this one does not want it.
bool Client::borrow(Operation& operation, uint64_t bytes) {
  Work& work = operation.work;
  if (bytes > caps_.lent_bytes_max || !random_.chance(scenario_.lend)) return false;
  const Lent lent = driver_.lend(operation.lane, work.peer, bytes);
  if (lent.payload == nullptr) return false;
  if (lent.bytes < bytes || reinterpret_cast<uintptr_t>(lent.payload) % 16 != 0) {
    cluster_.verdict.fail("rank %u was lent %lu bytes at %p, asked for %lu, aligned", rank_,
                          lent.bytes, static_cast<void*>(lent.payload), bytes);
  }
  operation.lent = lent;
  operation.buffer = lent.payload;
  work.local = lent.payload;
  work.bytes = bytes;
  work.lent = lent.name;
  work.flags = kWorkLent | kWorkCopied | kWorkSilent;
  return true;
}

/// Where a message's payload lies, and what the driver may do with it.
void Client::choose_memory(Operation& operation, uint64_t bytes, bool put) {
  Work& work = operation.work;
  if (!put && borrow(operation, bytes)) return;
  lend_memory(operation, bytes);
  const bool short_enough = put ? fits_copied(bytes) : bytes <= cluster_.send_bytes_max;
  if (short_enough && random_.chance(0.3)) work.flags |= kWorkCopied;
  if (short_enough && random_.chance(0.3)) work.flags |= kWorkCopied | kWorkSilent;
  if (put && random_.chance(0.2)) work.flags = kWorkSilent;
}

bool Client::make(Operation& operation) {
  operation.work.peer = draw_peer();
  const Mix& mix = scenario_.mix;
  uint64_t drawn = random_.below(mix.request + mix.one_way + mix.put + mix.put_send + mix.get +
                                 (caps_.atomic64 ? mix.atomic : 0) +
                                 (caps_.scatter_bytes_max != 0 ? mix.scatter : 0));
  if (drawn < mix.request + mix.one_way) return make_message(operation, false);
  drawn -= mix.request + mix.one_way;
  if (drawn < mix.put) return make_put(operation);
  drawn -= mix.put;
  if (drawn < mix.put_send) return make_message(operation, true);
  drawn -= mix.put_send;
  if (drawn < mix.get) return make_get(operation);
  drawn -= mix.get;
  return caps_.atomic64 && drawn < mix.atomic ? make_atomic(operation) : make_scatter(operation);
}

bool Client::reserve_put(Rank target, uint64_t bytes, PutRange& range) {
  bytes = std::clamp<uint64_t>(bytes, 1, std::min(scenario_.window_bytes, caps_.put_bytes_max));
  const uint64_t window = scenario_.window_bytes * rank_;
  for (int tries = 0; tries < 4; ++tries) {
    const uint64_t offset = window + random_.below(scenario_.window_bytes - bytes + 1);
    if (cluster_.shadow.busy(target, offset, bytes)) continue;
    range = {offset, bytes, random_.next()};
    return true;
  }
  return false;
}

bool Client::make_message(Operation& operation, bool put) {
  Work& work = operation.work;
  const uint64_t asked =
      scenario_.mix.request * 8 / (scenario_.mix.request + scenario_.mix.one_way);
  const bool owed = scenario_.absent_are_owed || !away(rank_);
  const bool wants_reply = random_.below(8) < asked && owed;
  if (wants_reply && unanswered_[work.peer] >= scenario_.network_depth) return false;
  Message message{.from = rank_, .to = work.peer, .cls = MessageClass::kRequest};
  message.head_bytes = draw_head_bytes();
  message.content = random_.next();
  message.wants_reply = wants_reply;
  message.answers = Message::kNone;
  message.lane = operation.lane;
  message.plain = !put;
  message.fenced = !put && random_.chance(scenario_.fence);
  if (put) {
    if (!reserve_put(work.peer, draw_bytes(caps_.put_bytes_max), message.put)) return false;
    message.put_id = cluster_.shadow.begin_put(work.peer, message.put);
    work.remote = cluster_.memories[work.peer]->window_address(message.put.offset);
    work.remote_key = cluster_.memories[work.peer]->region.remote_key;
  } else {
    // A head of 8 modulo 16 bytes keeps a lent payload aligned.
    if (scenario_.lend > 0) {
      message.head_bytes = static_cast<uint8_t>((message.head_bytes - 8) | 8);
    }
    message.bytes = draw_bytes(cluster_.send_bytes_max - message.head_bytes);
  }
  choose_memory(operation, put ? message.put.bytes : message.bytes, put);
  fill_pattern({operation.buffer, work.bytes}, put ? message.put.content : message.content + 1);
  message.deadline = cluster_.deadlines.begin(rank_, work.peer, "a message");
  work.op = put ? Op::kPutSend : Op::kSend;
  work.cls = message.cls;
  if (message.fenced) work.flags |= kWorkFenced;
  operation.message = cluster_.ledger.enter(message);
  cluster_.ledger.write_head(operation.message, {operation.head.data(), message.head_bytes});
  work.head = operation.head.data();
  work.head_bytes = message.head_bytes;
  if (wants_reply) ++unanswered_[work.peer];
  return true;
}

bool Client::make_put(Operation& operation) {
  Work& work = operation.work;
  PutRange range{};
  if (!reserve_put(work.peer, draw_bytes(caps_.put_bytes_max), range)) return false;
  operation.put = cluster_.shadow.begin_put(work.peer, range);
  lend_memory(operation, range.bytes);
  fill_pattern({operation.buffer, work.bytes}, range.content);
  work.op = Op::kPut;
  work.remote = cluster_.memories[work.peer]->window_address(range.offset);
  work.remote_key = cluster_.memories[work.peer]->region.remote_key;
  if (fits_copied(work.bytes) && random_.chance(0.3)) work.flags |= kWorkCopied;
  return true;
}

/// One put, cut into pieces of one length that stand in the list in any order.
bool Client::make_scatter(Operation& operation) {
  Work& work = operation.work;
  const auto list_bytes = static_cast<uint32_t>(
      std::min(caps_.scatter_bytes_max, scenario_.message_bytes_max - kSkewMax));
  const auto piece = static_cast<uint32_t>(1 + random_.below(random_.chance(0.5) ? 8 : 64));
  const uint64_t bytes_max = uint64_t{list_bytes / scatter_stride(piece)} * piece;
  PutRange range{};
  if (!reserve_put(work.peer, 1 + random_.below(bytes_max), range)) return false;
  operation.put = cluster_.shadow.begin_put(work.peer, range);
  std::vector<std::byte> data(range.bytes);
  fill_pattern(data, range.content);
  std::vector<uint64_t> offsets;
  for (uint64_t at = 0; at < range.bytes; at += piece) offsets.push_back(at);
  for (size_t i = offsets.size(); i > 1; --i) std::swap(offsets[i - 1], offsets[random_.below(i)]);
  lend_memory(operation, list_bytes);
  ScatterWriter list(operation.buffer, list_bytes);
  for (const uint64_t at : offsets) {
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(piece, range.bytes - at));
    check(
        list.add(cluster_.memories[work.peer]->window_address(range.offset + at), &data[at], bytes),
        "pieces of one length have room");
  }
  fill_pattern({operation.buffer + list.bytes(), kOperationFenceBytes}, rank_);
  work.op = Op::kScatter;
  work.flags = kWorkCopied;
  work.local_key = kNoRegion;
  work.bytes = list.bytes();
  work.remote = list.base();
  work.remote_key = cluster_.memories[work.peer]->region.remote_key;
  return true;
}

bool Client::make_get(Operation& operation) {
  Work& work = operation.work;
  const uint64_t all = cluster_.shadow.bytes_each();
  const uint64_t bytes = std::min(all, std::max<uint64_t>(1, draw_bytes(caps_.put_bytes_max)));
  const uint64_t offset = random_.below(all - bytes + 1);
  operation.get = cluster_.shadow.begin_get(work.peer, offset, bytes);
  lend_memory(operation, bytes);
  std::memset(operation.buffer, 0x5c, bytes);
  work.op = Op::kGet;
  work.remote = cluster_.memories[work.peer]->window_address(offset);
  work.remote_key = cluster_.memories[work.peer]->region.remote_key;
  return true;
}

bool Client::make_atomic(Operation& operation) {
  Work& work = operation.work;
  AtomicOperands& operands = operation.operands;
  operation.cell = static_cast<uint32_t>(random_.below(kSharedCells + 2));
  if (operation.cell >= kSharedCells) operation.cell = kSharedCells + rank_;
  work.op = Op::kFetchOp;
  switch (cell_kind(operation.cell)) {
    case CellKind::kSum:
      operands = {AtomicCode::kAdd, 1 + random_.below(1u << 20), 0};
      if (random_.chance(0.2)) operands = {AtomicCode::kGet, 0, 0};
      break;
    case CellKind::kSwap:
      operands = {AtomicCode::kSwap, uint64_t{rank_ + 1} << 40 | generation_, 0};
      break;
    case CellKind::kCounter: {
      const uint64_t guess = cluster_.atomics.latest(work.peer, operation.cell);
      operands = {AtomicCode::kCompareSwap, guess + 1, guess};
      break;
    }
    case CellKind::kOwn:
      if (own_cell_busy_[work.peer]) return false;
      own_cell_busy_[work.peer] = true;
      operands = {static_cast<AtomicCode>(random_.below(9)),
                  random_.next() >> random_.below(64) | 1,
                  cluster_.atomics.latest(work.peer, operation.cell) + random_.below(2)};
      break;
  }
  if (operands.code == AtomicCode::kCompareSwap) work.op = Op::kCompareSwap;
  lend_memory(operation, sizeof(uint64_t));
  lend_head(operation, &operands, sizeof operands);
  work.remote = cluster_.memories[work.peer]->cell_address(operation.cell);
  work.remote_key = cluster_.memories[work.peer]->region.remote_key;
  return true;
}

/// An access that the target must refuse; for a cut-off victim any access will do.
void Client::make_crime(Operation& operation) {
  constexpr Op kOps[] = {Op::kGet, Op::kPut, Op::kPutSend, Op::kFetchOp};
  Work& work = operation.work;
  Memory& memory = *cluster_.memories[victim_];
  const auto base = reinterpret_cast<uintptr_t>(memory.base());
  const uint64_t end = base + memory.bytes();
  operation.criminal = true;
  operation.operands = {AtomicCode::kAdd, 1, 0};
  work.peer = victim_;
  work.op = Op::kGet;
  work.remote_key = memory.region.remote_key;
  work.remote = memory.window_address(0);
  lend_memory(operation, 8);
  if (crime_ == WorkStatus::kRemoteAccess) {
    work.op = kOps[random_.below(4)];
    const bool atomic = work.op == Op::kFetchOp;
    lend_memory(operation, atomic ? 8 : 1 + random_.below(scenario_.message_bytes_max - kSkewMax));
    const uint64_t wrong[] = {end,      ~uint64_t{0} - 7,
                              0,        base - (work.bytes + 7) / 8 * 8,
                              base - 8, end - (work.bytes - 1) / 8 * 8};
    work.remote = wrong[random_.below(6)];
    if (inside(work.remote, work.bytes, base, memory.bytes())) work.remote = end;
    if (random_.chance(0.2)) {  // the address is right, the key is not
      work.remote = memory.cell_address(0);
      work.remote_key ^= 1u << random_.below(32);
    }
    std::memset(operation.buffer, 0xbd, work.bytes);
  }
  std::array<std::byte, 8> head{std::byte{0xba}, std::byte{0xd0}};
  if (work.op == Op::kFetchOp) {
    lend_head(operation, &operation.operands, sizeof(AtomicOperands));
  } else if (work.op == Op::kPutSend) {
    lend_head(operation, head.data(), head.size());
  }
}

void Client::answer(uint64_t request, uint32_t lane) {
  const Message asked = cluster_.ledger[request];
  Message message{.from = rank_, .to = asked.from, .cls = MessageClass::kReply};
  message.head_bytes = draw_head_bytes();
  message.content = random_.next();
  message.answers = request;
  const bool put =
      random_.chance(0.2) && reserve_put(asked.from, draw_bytes(copied_bytes_max()), message.put);
  if (put) {
    message.put_id = cluster_.shadow.begin_put(asked.from, message.put);
  } else {
    message.bytes = draw_bytes(cluster_.send_bytes_max - message.head_bytes);
    message.fenced = random_.chance(scenario_.fence);
  }
  message.lane = lane;
  message.plain = !put;
  message.deadline = cluster_.deadlines.begin(rank_, asked.from, "a reply");
  Reply& reply = replies_.emplace_back();
  reply.lane = lane;
  reply.message = cluster_.ledger.enter(message);
  reply.payload.resize(put ? message.put.bytes : message.bytes);
  fill_pattern(reply.payload, put ? message.put.content : message.content + 1);
  cluster_.ledger.write_head(reply.message, {reply.head.data(), message.head_bytes});
  Work& work = reply.work;
  work.op = put ? Op::kPutSend : Op::kSend;
  work.cls = message.cls;
  work.flags = kWorkCopied | kWorkSilent;
  if (message.fenced) work.flags |= kWorkFenced;
  work.head_bytes = message.head_bytes;
  work.peer = asked.from;
  work.bytes = reply.payload.size();
  if (put) {
    work.remote = cluster_.memories[asked.from]->window_address(message.put.offset);
    work.remote_key = cluster_.memories[asked.from]->region.remote_key;
  }
  post_replies();
}

/// Replies that handlers wait to post, and before them those that handlers have left behind.
bool Client::post_replies() {
  bool any = post_owed();
  for (; !replies_.empty(); replies_.pop_front(), reply_refusals_ = 0) {
    Reply& reply = replies_.front();
    const bool waits_behind_owed = owes_to(reply);
    if (!waits_behind_owed && post_reply(reply)) {
      any = true;
      continue;
    }
    const bool may_leave = scenario_.leaves_replies && ++reply_refusals_ > kRefusalsBeforeLeaving;
    if (!waits_behind_owed && !may_leave) break;
    owed_.push_back(std::move(reply));
  }
  return any;
}

bool Client::post_reply(Reply& reply) {
  reply.work.head = reply.head.data();
  reply.work.local = reply.payload.data();
  if (driver_.post(reply.lane, {&reply.work, 1}) == 0) return false;
  cluster_.ledger.posted(reply.message);
  return true;
}

/// Offers the owed replies. Those of one lane to one peer stay in order.
bool Client::post_owed() {
  std::vector<std::pair<uint32_t, Rank>> refused;
  const size_t posted = std::erase_if(owed_, [&](Reply& reply) {
    const std::pair creditor(reply.lane, reply.work.peer);
    if (std::find(refused.begin(), refused.end(), creditor) != refused.end()) return false;
    if (post_reply(reply)) return true;
    refused.push_back(creditor);
    return false;
  });
  return posted > 0;
}

bool Client::owes_to(const Reply& reply) const {
  return std::any_of(owed_.begin(), owed_.end(), [&](const Reply& owed) {
    return owed.lane == reply.lane && owed.work.peer == reply.work.peer;
  });
}

}  // namespace pinwire::sim

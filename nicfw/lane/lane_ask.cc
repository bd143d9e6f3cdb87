// Gets and atomics: records that ask the peer for a response.
//
// A get or an atomic that finds no frame waits in the queue of its flow, as a long put does, and a
// poll builds it when the windows have a frame again. A peer that computes and acknowledges nothing
// therefore does not hold up the client, which has others to ask. Those that come later wait behind
// it: the frames that waiting operations leave are for records that cannot wait. Waiting work holds
// an operation alone, and of those no more than Operations::may_wait() says: post() refuses what
// exceeds that, for this peer only.
#include <cstring>

#include "nicfw/lane/lane.h"

namespace pinwire {

bool Lane::accept_get(Peer& peer, const Work& work) noexcept {
  uint32_t unused_key = 0;
  if (!local_key(work, unused_key)) return true;
  const Index index = ops_.take(work);
  if (index == kNoIndex) return false;
  if (work.bytes == 0) {
    ops_.finish(index, WorkStatus::kOk);
    return true;
  }
  ops_[index].remaining = work.bytes;
  return accept_ask<RecordType::kGet>(peer, work, index);
}

bool Lane::accept_atomic(Peer& peer, const Work& work) noexcept {
  const Index index = ops_.take(work);
  if (index == kNoIndex) return false;
  return accept_ask<RecordType::kAtomic>(peer, work, index);
}

/// Becomes a record now, or waits for a poll that builds it.
template <RecordType kType>
bool Lane::accept_ask(Peer& peer, const Work& work, Index index) noexcept {
  constexpr Flow kFlow = Flow::kOneSided;
  constexpr uint32_t kBytes = record_fields(kType);
  SendFlow& send = peer.send[static_cast<size_t>(kFlow)];
  const uint16_t small_waits = send.small_waits;
  SendSlot* slot = nullptr;
  std::byte* at = is_ask_last(send.ops.shorts)
                      ? nullptr
                      : reserve_record(peer, kFlow, kBytes, Kind::kAsk, slot);
  if (at == nullptr) [[unlikely]]
    return let_wait(peer, index, small_waits);
  write_ask<kType>(at, work, index);
  built(peer, kFlow);
  return true;
}

/// The operation got no frame. `small_waits`: the flow's before it asked for one.
bool Lane::let_wait(Peer& peer, Index index, uint16_t small_waits) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(Flow::kOneSided)];
  if (!ops_.may_wait(send)) {
    ops_.drop(index);
    return false;
  }
  // It was not refused: the frame that is left for a refused record would be left for nobody.
  send.small_waits = small_waits & 0xf;
  keep_head(ops_[index]);
  send.ops.shorts.push(ops_, index);
  attend(peer);
  return true;
}

bool Lane::is_ask_last(const IndexRing& queue) const noexcept {
  return !queue.empty() && is_ask(ops_[queue.last].work);
}

/// The client may reuse the operands of an atomic when post() returns.
void Lane::keep_head(Operation& op) noexcept {
  if (op.work.op == Op::kGet) return;
  static_assert(sizeof(AtomicOperands) <= kHeadBytesMax);
  std::memcpy(op.head, op.work.head, sizeof(AtomicOperands));
  op.work.head = op.head;
}

template <RecordType kType>
void Lane::write_ask(std::byte* at, const Work& work, Index index) noexcept {
  Record record{};
  record.type = kType;
  record.key = work.remote_key;
  record.op = ops_.name(index);
  record.address = work.remote;
  if constexpr (kType == RecordType::kGet) {
    record.length = work.bytes;
  } else {
    AtomicOperands operands;
    std::memcpy(&operands, work.head, sizeof operands);
    record.code = static_cast<uint8_t>(operands.code);
    record.operand = operands.operand;
    record.compare = operands.compare;
  }
  encode_record(at, record);
  await_response(ops_[index]);
}

bool Lane::is_ask(const Work& work) noexcept {
  return work.op != Op::kPut && work.op != Op::kPutSend;
}

/// The first of `queue`, which is a get or an atomic, becomes a record. Those behind it may join
/// its frame.
Built Lane::build_ask(Peer& peer, IndexRing& queue) noexcept {
  const Index index = queue.first(ops_);
  const Work& work = ops_[index].work;
  const bool is_get = work.op == Op::kGet;
  const uint32_t bytes = record_fields(is_get ? RecordType::kGet : RecordType::kAtomic);
  const bool collects = index != queue.last;
  std::byte* at = reserve_for_waiting(peer, Flow::kOneSided, bytes, Kind::kAsk, collects);
  if (at == nullptr) return Built::kNoFrame;
  if (is_get) {
    write_ask<RecordType::kGet>(at, work, index);
  } else {
    write_ask<RecordType::kAtomic>(at, work, index);
  }
  queue.pop(ops_);
  return Built::kSome;
}

}  // namespace pinwire

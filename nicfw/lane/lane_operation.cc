// Operations: from an accepted Work to its Done.
#include "nicfw/lane/lane.h"

namespace pinwire {

Index Lane::take_op(const Work& work) noexcept {
  const Flow flow = flow_of(work);
  SendFlow& send = peers_[work.peer].send[static_cast<size_t>(flow)];
  const bool is_reply = flow == Flow::kReply;
  if (!op_share_.allows(send.operations, 1, ops_.available(), is_reply)) return kNoIndex;
  const Index index = ops_.take();
  op_share_.took(send.operations++, is_reply);
  Operation& op = ops_[index];
  op.work = work;
  op.built = 0;
  op.remaining = 0;
  op.frames = 0;
  op.link = kNoIndex;
  op.state = OpState::kActive;
  op.status = WorkStatus::kOk;
  op.started = false;
  op.all_built = false;
  op.is_awaited = false;
  return index;
}

void Lane::drop_op(Index index) noexcept {
  Operation& op = ops_[index];
  const Flow flow = flow_of(op.work);
  SendFlow& send = peers_[op.work.peer].send[static_cast<size_t>(flow)];
  dcheck(send.operations > 0, "an operation that was not counted", op.work.peer);
  op_share_.gave(--send.operations, flow == Flow::kReply);
  awaited_ops_ -= op.is_awaited ? 1 : 0;
  op.state = OpState::kFree;
  ++op.generation;
  ops_.give(index);
}

uint64_t Lane::op_name(Index index) const noexcept {
  const uint32_t generation = ops_[index].generation + nic_.config.first_sequence;
  return index | uint64_t{generation} << 16;
}

/// The operation that a peer's response names, or kNoIndex.
Index Lane::find_op(uint64_t name, Rank peer) const noexcept {
  const auto index = static_cast<Index>(name & 0xffff);
  if (index >= ops_.size()) return kNoIndex;
  const Operation& op = ops_[index];
  const bool same = op.state == OpState::kActive && op_name(index) == name && op.work.peer == peer;
  return same ? index : kNoIndex;
}

void Lane::finish_op(Index index, WorkStatus status) noexcept {
  Operation& op = ops_[index];
  if (op.work.flags & kWorkSilent) {
    drop_op(index);
    return;
  }
  op.state = OpState::kDone;
  op.status = status;
  done_.push(ops_, index);
}

void Lane::op_frame_acked(Index index) noexcept {
  Operation& op = ops_[index];
  dcheck(op.frames > 0 && op.state == OpState::kActive, "acknowledged twice", index);
  if (--op.frames == 0 && op.all_built) finish_op(index, WorkStatus::kOk);
}

/// Takes an operation that is about to finish out of everything that still refers to it.
void Lane::forget_op(Peer& peer, Index op) noexcept {
  for (SendFlow& send : peer.send) {
    for (IndexRing* queue : {&send.ops.shorts, &send.ops.longs}) {
      IndexRing kept;
      while (!queue->empty()) {
        const Index index = queue->pop(ops_);
        if (index != op) kept.push(ops_, index);
      }
      *queue = kept;
    }
    if (send.window == kNoIndex) continue;
    for (uint32_t s = send.una; s != send.next; ++s) {
      const Index index = windows_[send.window].slot[s % kWindowFramesMax];
      if (index == kNoIndex) continue;
      SendSlot& slot = slots_[index];
      if (slot.fragment == op) slot.fragment = kNoIndex;
      Index* link = &slot.ops;
      while (*link != kNoIndex && *link != op) link = &ops_[*link].link;
      if (*link == op) *link = ops_[op].link;
    }
  }
}

}  // namespace pinwire

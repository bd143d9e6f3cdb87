#include "nicfw/operation/operations.h"

#include <algorithm>

#include "core/base/check.h"

namespace pinwire {

void Operations::make(Peer* peers, uint32_t ranks, uint32_t window_frames,
                      uint32_t first_generation) {
  peers_ = peers;
  first_generation_ = first_generation;
  const PoolReserve reserve{.holders = kFlows * std::min(ranks, kIdleHoldersMax),
                            .replies = window_frames};
  share_ = PoolShare(reserve);
  kept_ = 4 * window_frames;
  static_assert(18 * kWindowFramesMax < 1u << 16, "SendFlow::operations counts them");
  pool_.make(16 * window_frames + reserve.items());
}

SendFlow& Operations::holder_of(const Work& work) const noexcept {
  return peers_[work.peer].send[static_cast<size_t>(flow_of(work))];
}

Index Operations::take(const Work& work) noexcept {
  SendFlow& send = holder_of(work);
  const bool is_reply = flow_of(work) == Flow::kReply;
  if (!share_.allows(send.operations, 1, pool_.available(), is_reply)) return kNoIndex;
  const Index index = pool_.take();
  share_.took(send.operations++, is_reply);
  Operation& op = pool_[index];
  dcheck(op.state == OpState::kFree, "an operation was given back before its end", index);
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

bool Operations::may_wait(const SendFlow& send) const noexcept {
  return send.operations == 1 || share_.shared_left(pool_.available()) >= kept_ + send.operations;
}

void Operations::drop(Index index) noexcept {
  Operation& op = pool_[index];
  dcheck(op.state != OpState::kFree, "an operation was dropped twice", index);
  SendFlow& send = holder_of(op.work);
  dcheck(send.operations > 0, "an operation that was not counted", op.work.peer);
  share_.gave(--send.operations, flow_of(op.work) == Flow::kReply);
  awaited_ -= op.is_awaited ? 1 : 0;
  op.state = OpState::kFree;
  ++op.generation;
  pool_.give(index);
}

uint64_t Operations::name(Index index) const noexcept {
  const uint32_t generation = pool_[index].generation + first_generation_;
  return index | uint64_t{generation} << 16;
}

Index Operations::find(uint64_t name, Rank peer) const noexcept {
  const auto index = static_cast<Index>(name & 0xffff);
  if (index >= pool_.size()) return kNoIndex;
  const Operation& op = pool_[index];
  const bool same =
      op.state == OpState::kActive && this->name(index) == name && op.work.peer == peer;
  return same ? index : kNoIndex;
}

void Operations::finish(Index index, WorkStatus status) noexcept {
  Operation& op = pool_[index];
  dcheck(op.state == OpState::kActive, "an operation that is not active was finished", index);
  if (op.work.flags & kWorkSilent) {
    drop(index);
    return;
  }
  op.state = OpState::kDone;
  op.status = status;
  done_.push(pool_, index);
}

void Operations::frame_acked(Index index) noexcept {
  Operation& op = pool_[index];
  dcheck(op.frames > 0 && op.state == OpState::kActive, "acknowledged twice", index);
  if (--op.frames == 0 && op.all_built) finish(index, WorkStatus::kOk);
}

void Operations::finish_all(Rank peer, WorkStatus status) noexcept {
  for (uint32_t i = 0; i < pool_.size(); ++i) {
    const auto index = static_cast<Index>(i);
    const Operation& op = pool_[index];
    const bool is_of = peer == kEveryPeer || op.work.peer == peer;
    if (op.state == OpState::kActive && is_of) finish(index, status);
  }
}

uint32_t Operations::done(std::span<Done> out) noexcept {
  uint32_t count = 0;
  while (count < out.size() && !done_.empty()) {
    const Index index = done_.pop(pool_);
    const Operation& op = pool_[index];
    dcheck(op.state == OpState::kDone, "an operation that is not done is handed out", index);
    out[count++] = Done{op.work.cookie, op.status};
    drop(index);
  }
  return count;
}

bool Operations::await_response(Operation& operation) noexcept {
  dcheck(!operation.is_awaited, "a response is awaited twice", operation.work.peer);
  operation.is_awaited = true;
  return awaited_++ == 0;
}

}  // namespace pinwire

#include "driver/verbs/receive_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/bits.h"

namespace pinwire::verbs {

Status ReceiveQueue::open(const Device& device, MessageClass cls, uint32_t depth,
                          uint32_t message_bytes_max, ibv_comp_channel* channel) {
  cls_ = cls;
  // As many completions as buffers, so that their queue cannot overrun.
  depth_ = std::min({depth, static_cast<uint32_t>(device.limits.max_srq_wr),
                     static_cast<uint32_t>(device.limits.max_cqe)});
  const uint32_t count = depth_ + kSpare;
  const uint32_t bytes_each = align_up(kReceiveOffset + message_bytes_max, 64u);
  if (auto made = buffers_.open(device, count, bytes_each, "receive buffers"); !made) return made;
  completions_.reset(
      ibv_create_cq(device.context.get(), static_cast<int>(depth_), nullptr, channel, 0));
  if (!completions_) {
    return error("%s: no completion queue of %u entries: %s", device.name.c_str(), depth_,
                 std::strerror(errno));
  }
  ibv_srq_init_attr init{};
  init.attr.max_wr = depth_;
  init.attr.max_sge = 1;
  queue_.reset(ibv_create_srq(device.pd.get(), &init));
  if (!queue_) {
    return error("%s: no shared receive queue of %u entries: %s", device.name.c_str(), depth_,
                 std::strerror(errno));
  }
  requests_.resize(count);
  places_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    places_[i] = {reinterpret_cast<uint64_t>(buffers_.at(i) + kReceiveOffset), message_bytes_max,
                  buffers_.local_key()};
    requests_[i] = {i, nullptr, &places_[i], 1};
  }
  refill(1);
  return success();
}

void ReceiveQueue::close() noexcept {
  queue_.reset();
  completions_.reset();
  buffers_ = {};
}

void ReceiveQueue::refill(uint32_t least) noexcept {
  const auto count = std::min(static_cast<uint32_t>(buffers_.free_count()), depth_ - posted_);
  if (count == 0 || (count < least && posted_ > depth_ / 2)) return;
  ibv_recv_wr* first = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    ibv_recv_wr& request = requests_[buffers_.take()];
    request.next = first;
    first = &request;
  }
  ibv_recv_wr* refused = nullptr;
  const int failed = ibv_post_srq_recv(queue_.get(), first, &refused);
  check(failed == 0, "the device refused receive buffers that it has room for", failed, count);
  posted_ += count;
}

uint32_t ReceiveQueue::poll(std::span<Recv> out, Rank rank_count,
                            std::optional<ibv_wc>& bad) noexcept {
  constexpr uint32_t kBatch = 32;
  ibv_wc arrived[kBatch];
  uint32_t count = 0;
  const auto room = static_cast<uint32_t>(std::min<size_t>(out.size(), kBatch));
  if (room == 0) return 0;
  if (has_seen_) {
    arrived[count++] = seen_;
    has_seen_ = false;
  }
  if (count < room) {
    const int found =
        ibv_poll_cq(completions_.get(), static_cast<int>(room - count), arrived + count);
    check(found >= 0, "the completion queue of the receives cannot be polled", found);
    count += static_cast<uint32_t>(found);
  }
  uint32_t handed_out = 0;
  for (const ibv_wc& one : std::span(arrived, count)) {
    --posted_;
    const auto buffer = static_cast<uint32_t>(one.wr_id);
    const Rank peer = senders_ == nullptr ? one.imm_data : senders_->rank_of(one.qp_num);
    // A connection is of a rank of this job, but what comes from outside is validated all the same.
    if (one.status != IBV_WC_SUCCESS || peer >= rank_count || one.byte_len < sizeof(uint64_t)) {
      bad = one;
      buffers_.give(buffer);
      continue;
    }
    out[handed_out++] = {buffers_.at(buffer) + kReceiveOffset, one.byte_len, peer, buffer, cls_};
  }
  if (count != 0) refill(kRefillBatch);
  return handed_out;
}

bool ReceiveQueue::look() noexcept {
  if (!has_seen_) has_seen_ = ibv_poll_cq(completions_.get(), 1, &seen_) == 1;
  return has_seen_;
}

}  // namespace pinwire::verbs

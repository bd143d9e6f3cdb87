#include "driver/verbs/receive_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pinwire::verbs {

Status ReceiveQueue::open(const Device& device, MessageClass cls, const Sizes& sizes,
                          ibv_comp_channel* channel) {
  cls_ = cls;
  sizes_ = sizes;
  if (sizes.owner_count == 0) {
    // As many completions as buffers, so that their queue cannot overrun.
    sizes_.depth = std::min({sizes.depth, static_cast<uint32_t>(device.limits.max_srq_wr),
                             static_cast<uint32_t>(device.limits.max_cqe)});
    auto made = open_completions(device, sizes_.depth, channel);
    return made ? open_shared(device) : made;
  }
  owned_ = std::make_unique<std::atomic<ReceiveBuffers*>[]>(sizes.owner_count);
  return open_completions(device, sizes.depth * sizes.owner_count, channel);
}

Status ReceiveQueue::open_completions(const Device& device, uint32_t entries,
                                      ibv_comp_channel* channel) {
  completions_.reset(
      ibv_create_cq(device.context.get(), static_cast<int>(entries), nullptr, channel, 0));
  if (completions_) return success();
  return error("%s: no completion queue of %u entries: %s", device.name.c_str(), entries,
               std::strerror(errno));
}

Status ReceiveQueue::open_shared(const Device& device) {
  auto made = shared_.open(device, {sizes_.depth, kSpare, sizes_.message_bytes_max}, 0);
  if (!made) return made;
  ibv_srq_init_attr init{};
  init.attr.max_wr = sizes_.depth;
  init.attr.max_sge = 1;
  queue_.reset(ibv_create_srq(device.pd.get(), &init));
  if (!queue_) {
    return error("%s: no shared receive queue of %u entries: %s", device.name.c_str(), sizes_.depth,
                 std::strerror(errno));
  }
  shared_.post_to(queue_.get());
  return success();
}

Status ReceiveQueue::add(const Device& device, Rank peer, ibv_qp* connection) {
  check(!is_shared() && peer < sizes_.owner_count, "a peer of a shared receive queue", peer);
  auto made = std::make_unique<ReceiveBuffers>();
  auto opened = made->open(device, {sizes_.depth, 0, sizes_.message_bytes_max}, peer);
  if (!opened) return opened;
  made->post_to(connection);
  delete owned_[peer].exchange(made.release(),
                               std::memory_order_release);  // pairs with buffers_of()
  return success();
}

void ReceiveQueue::close() noexcept {
  queue_.reset();
  completions_.reset();
  shared_ = {};
  for (Rank peer = 0; owned_ && peer < sizes_.owner_count; ++peer) {
    delete owned_[peer].load(std::memory_order_relaxed);
  }
  owned_.reset();
}

/// False: it is nothing to hand out.
bool ReceiveQueue::take(const ibv_wc& arrived, Rank rank_count, Recv& out,
                        std::optional<ibv_wc>& bad) noexcept {
  const uint32_t buffer = ReceiveBuffers::buffer_in(arrived.wr_id);
  const Rank peer = sender_of(arrived);
  ReceiveBuffers& buffers = buffers_of(peer);
  buffers.note_arrival();
  // A failed connection returns the buffers of its own queue. Its sends or the device's events tell
  // why; the peer may even have had good reasons to end it.
  const bool is_returned = !is_shared() && arrived.status == IBV_WC_WR_FLUSH_ERR;
  if (is_returned) buffers.stop();
  // A connection is of a rank of this job, but what comes from outside is validated all the same.
  const bool is_good =
      arrived.status == IBV_WC_SUCCESS && peer < rank_count && arrived.byte_len >= sizeof(uint64_t);
  if (!is_good) {
    if (!is_returned) bad = arrived;
    buffers.give_back(buffer);
    return false;
  }
  out = {buffers.message_at(buffer), arrived.byte_len, peer, buffer, cls_};
  return true;
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
    handed_out += take(one, rank_count, out[handed_out], bad);
  }
  if (count != 0 && is_shared()) shared_.refill(ReceiveBuffers::kRefillBatch);
  return handed_out;
}

bool ReceiveQueue::look() noexcept {
  if (!has_seen_) has_seen_ = ibv_poll_cq(completions_.get(), 1, &seen_) == 1;
  return has_seen_;
}

}  // namespace pinwire::verbs

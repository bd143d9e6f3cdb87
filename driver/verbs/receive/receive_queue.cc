#include "driver/verbs/receive/receive_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "driver/verbs/peer/address.h"

namespace pinwire::verbs {

Status ReceiveQueue::open(const Device& device, ibv_pd* domain, MessageClass cls,
                          const Sizes& sizes) {
  cls_ = cls;
  sizes_ = sizes;
  if (sizes.owner_count == 0) return open_shared(device, domain);
  owned_ = std::make_unique<std::atomic<ReceiveBuffers*>[]>(sizes.owner_count);
  return success();
}

Status ReceiveQueue::open_shared(const Device& device, ibv_pd* domain) {
  // The completion queue of the lane has entries for all buffers of both classes.
  sizes_.depth = std::min({sizes_.depth, static_cast<uint32_t>(device.limits.max_srq_wr),
                           static_cast<uint32_t>(device.limits.max_cqe) / kLinksPerPeer});
  auto made = shared_.open(device, {sizes_.depth, kSpare, sizes_.message_bytes_max}, cls_, 0);
  if (!made) return made;
  ibv_srq_init_attr init{};
  init.attr.max_wr = sizes_.depth;
  init.attr.max_sge = 1;
  queue_.reset(ibv_create_srq(domain, &init));
  if (!queue_) {
    return error("%s: no shared receive queue of %u entries: %s", device.name.c_str(), sizes_.depth,
                 std::strerror(errno));
  }
  shared_.post_to(queue_.get());
  return success();
}

Status ReceiveQueue::add(const Device& device, Rank peer, ibv_qp* connection) {
  check(!is_shared(), "a shared receive queue gets buffers for one peer", peer);
  check(peer < sizes_.owner_count, "a rank that has no receive queue of its own", peer);
  auto made = std::make_unique<ReceiveBuffers>();
  auto opened = made->open(device, {sizes_.depth, 0, sizes_.message_bytes_max}, cls_, peer);
  if (!opened) return opened;
  made->post_to(connection);
  delete owned_[peer].exchange(made.release(),
                               std::memory_order_release);  // pairs with buffers_of()
  return success();
}

void ReceiveQueue::close() noexcept {
  queue_.reset();
  shared_ = {};
  for (Rank peer = 0; owned_ && peer < sizes_.owner_count; ++peer) {
    delete owned_[peer].load(std::memory_order_relaxed);
  }
  owned_.reset();
}

bool ReceiveQueue::take(const ibv_wc& arrived, Recv& out, std::optional<ibv_wc>& bad) noexcept {
  const uint32_t buffer = ReceiveBuffers::buffer_in(arrived.wr_id);
  const Rank peer = sender_of(arrived);
  ReceiveBuffers& buffers = buffers_of(peer);
  buffers.note_arrival();
  // A failed connection returns the buffers of its own queue. Its sends or the device's events tell
  // why; the peer may even have had good reasons to end it.
  const bool is_returned = !is_shared() && arrived.status == IBV_WC_WR_FLUSH_ERR;
  if (is_returned) buffers.stop();
  // A connection is of a rank of this job, but what comes from outside is validated all the same.
  const bool is_good = arrived.status == IBV_WC_SUCCESS && peer < sizes_.rank_count &&
                       arrived.byte_len >= sizeof(uint64_t);
  if (!is_good) {
    if (!is_returned) bad = arrived;
    buffers.give_back(buffer);
    return false;
  }
  out = {buffers.message_at(buffer), arrived.byte_len, peer, buffer, cls_};
  return true;
}

}  // namespace pinwire::verbs

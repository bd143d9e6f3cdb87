#include "driver/verbs/receive/receive_buffers.h"

#include <algorithm>

#include "core/base/bits.h"

namespace pinwire::verbs {

Status ReceiveBuffers::open(const Device& device, const Sizes& sizes, MessageClass cls,
                            Rank owner) {
  check(places_.empty(), "receive buffers are made twice", owner);
  check(sizes.depth != 0, "a receive queue that holds no buffer", owner);
  depth_ = sizes.depth;
  const uint32_t count = sizes.depth + sizes.spare;
  const uint32_t bytes_each = align_up(kReceiveOffset + sizes.message_bytes_max, 64u);
  if (auto made = buffers_.open(device, count, bytes_each, "receive buffers"); !made) return made;
  requests_.resize(count);
  places_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    check(reinterpret_cast<uintptr_t>(message_at(i)) % 16 == 8,
          "a receive buffer whose messages are not aligned", i);
    places_[i] = {reinterpret_cast<uint64_t>(message_at(i)), sizes.message_bytes_max,
                  buffers_.local_key()};
    requests_[i] = {name_of(cls, owner, i), nullptr, &places_[i], 1};
  }
  return success();
}

void ReceiveBuffers::refill(uint32_t least) noexcept {
  dcheck(posted_ <= depth_, "more receive buffers are posted than the queue holds", posted_,
         depth_);
  dcheck(posted_ + buffers_.free_count() <= places_.size(),
         "a receive buffer is both posted and free", posted_);
  const auto count = std::min(static_cast<uint32_t>(buffers_.free_count()), depth_ - posted_);
  if (count == 0 || is_stopped_ || (count < least && posted_ > depth_ / 2)) return;
  ibv_recv_wr* first = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    ibv_recv_wr& request = requests_[buffers_.take()];
    request.next = first;
    first = &request;
  }
  ibv_recv_wr* refused = nullptr;
  const int failed = shared_queue_ != nullptr ? ibv_post_srq_recv(shared_queue_, first, &refused)
                                              : ibv_post_recv(own_queue_, first, &refused);
  check(failed == 0, "the device refused receive buffers that it has room for", failed, count);
  posted_ += count;
}

}  // namespace pinwire::verbs

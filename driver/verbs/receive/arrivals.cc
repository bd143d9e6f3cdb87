#include "driver/verbs/receive/arrivals.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace pinwire::verbs {

Status Arrivals::open(const Device& device, uint32_t entries, uint32_t requests_max,
                      ibv_comp_channel* channel) {
  kept_.resize(std::bit_ceil(requests_max));
  completions_.reset(
      ibv_create_cq(device.context.get(), static_cast<int>(entries), nullptr, channel, 0));
  if (completions_) return success();
  return error("%s: no completion queue of %u entries: %s", device.name.c_str(), entries,
               std::strerror(errno));
}

uint32_t Arrivals::poll(RecvFilter filter, std::span<Recv> out, Queues& queues,
                        std::optional<ibv_wc>& bad) noexcept {
  dcheck(!out.empty(), "a poll that may hand out nothing");
  uint32_t count = 0;
  if (has_reply_) [[unlikely]] {
    out[count++] = reply_;
    has_reply_ = false;
  }
  // Requests among them take no room of `out`: replies do not wait behind those of a busy peer.
  for (bool is_more = true; is_more && count < out.size();) {
    const auto most = static_cast<uint32_t>(std::min<size_t>(out.size() - count, kBatch));
    const Found found = ask(out.subspan(count), most, queues, bad);
    count += found.replies;
    is_more = found.all == most;
  }
  if (filter == RecvFilter::kAll) count += hand_out_kept(out.subspan(count));
  return count;
}

/// Asks the device for so many arrivals at most, and keeps requests.
Arrivals::Found Arrivals::ask(std::span<Recv> replies, uint32_t most, Queues& queues,
                              std::optional<ibv_wc>& bad) noexcept {
  ibv_wc arrived[kBatch];
  const int found = ibv_poll_cq(completions_.get(), static_cast<int>(most), arrived);
  check(found >= 0, "the completion queue of the receives cannot be polled", found);
  if (found == 0) return {};
  uint32_t count = 0;
  for (const ibv_wc& one : std::span(arrived, static_cast<size_t>(found))) {
    const MessageClass cls = ReceiveBuffers::class_in(one.wr_id);
    Recv message;
    if (!queues[static_cast<size_t>(cls)].take(one, message, bad)) continue;
    if (cls == MessageClass::kReply) {
      dcheck(count < replies.size(), "more replies arrived than were asked for", count);
      replies[count++] = message;
    } else {
      keep(message);
    }
  }
  for (ReceiveQueue& queue : queues) queue.refill();
  return {static_cast<uint32_t>(found), count};
}

void Arrivals::keep(const Recv& request) noexcept {
  dcheck(end_ - begin_ < kept_.size(), "more requests are kept than there are buffers");
  kept_[end_++ & (kept_.size() - 1)] = request;
}

uint32_t Arrivals::hand_out_kept(std::span<Recv> out) noexcept {
  dcheck(end_ - begin_ <= kept_.size(), "more requests are kept than there are buffers");
  const auto count = static_cast<uint32_t>(std::min<size_t>(out.size(), end_ - begin_));
  for (uint32_t i = 0; i < count; ++i) out[i] = kept_[begin_++ & (kept_.size() - 1)];
  return count;
}

bool Arrivals::look(Queues& queues, std::optional<ibv_wc>& bad) noexcept {
  if (!has_kept()) has_reply_ = ask({&reply_, 1}, 1, queues, bad).replies == 1;
  return has_kept();
}

}  // namespace pinwire::verbs

// Making and unmaking a lane, and connecting it.
#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/bits.h"
#include "driver/verbs/lane/lane.h"
#include "driver/verbs/lane/needs.h"

namespace pinwire::verbs {
namespace {

constexpr uint32_t kDepthMax = 1024;
constexpr uint32_t kCompletionsMax = 8192;
constexpr uint32_t kSlack = 2 * ReceiveQueue::kSpare;  // buffers given back that are not posted yet
/// The receive buffers of one class: a queue has some for each peer, and takes 17 MB at most.
constexpr uint32_t kReceivesLeast = 1024, kReceivesPerPeer = 32, kReceivesMax = 4096;
/// Requests that a rank sends between two of its polls, whatever its window (am/send/post.h).
constexpr uint32_t kSendsUnpolled = 32;
/// Requests under way to one peer where each connection has receive buffers of its own.
constexpr uint32_t kOwnWindowLeast = 8;
/// Inlining is by the CPU, word by word: beyond this, copying into a buffer is as cheap.
constexpr uint32_t kInlineMax = 512;

uint32_t depth_wanted(const OpenInfo& info) noexcept {
  return std::clamp(std::bit_ceil(info.network_depth), kDepthMin, kDepthMax);
}

/// iWARP has one for each peer at least, as divide_receives() says.
uint32_t receives_wanted(const Shared& shared) noexcept {
  const uint32_t peers = shared.info.rank_count - 1;
  const uint32_t all = std::max(peers, 1u) * depth_wanted(shared.info);
  const uint32_t some = std::clamp(peers * kReceivesPerPeer, kReceivesLeast, kReceivesMax);
  return kSlack + std::max(std::min(all, some), shared.device.is_iwarp ? peers : 0);
}

/// Receive buffers of a connection of its own: one for each request of the window, and those that
/// were given back, and are not posted yet. An iWARP peer, which would end a connection whose reply
/// finds none, may have answered as many requests again, which its credit let follow, before this
/// rank polls.
uint32_t own_receives(const Shared& shared, MessageClass cls) noexcept {
  const bool is_strict = shared.device.is_iwarp && cls == MessageClass::kReply;
  const uint32_t unpolled = is_strict ? std::max(shared.window, kSendsUnpolled) : 0;
  return shared.window + unpolled + ReceiveBuffers::kRefillBatch;
}

}  // namespace

Status Lane::open() {
  static const uint64_t kNothing = 0;
  unconnected_.taken = connecting_.taken = &kNothing;
  peers_ = std::make_unique<std::atomic<Peer*>[]>(shared_.info.rank_count);
  for (Rank rank = 0; rank < shared_.info.rank_count; ++rank) {
    peers_[rank].store(&unconnected_, std::memory_order_relaxed);
  }
  if (auto done = open_queues(); !done) return done;
  return try_links();
}

Status Lane::open_queues() {
  const Device& device = shared_.device;
  domain_.open(device);
  channel_.reset(ibv_create_comp_channel(device.context.get()));
  if (!channel_ || fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0) {
    return error("%s: no completion channel: %s", device.name.c_str(), std::strerror(errno));
  }
  room_ = capacity_ = std::min(kCompletionsMax, static_cast<uint32_t>(device.limits.max_cqe));
  completions_.reset(
      ibv_create_cq(device.context.get(), static_cast<int>(room_), nullptr, channel_.get(), 0));
  if (!completions_) {
    return error("%s: no completion queue of %u entries: %s", device.name.c_str(), room_,
                 std::strerror(errno));
  }
  check(room_ > kCompletionsKept, "a completion queue with no entry but those that are kept",
        room_);
  tickets_.open(room_);
  finished_.reserve(room_);
  if (device.is_iwarp) senders_.open(shared_.info.rank_count * kLinksPerPeer);
  if (auto made = open_receives(); !made) return made;
  if (auto made =
          small_.open(device, kSmallBuffers, align_up(kMessageBytesMax, 64u), "send buffers");
      !made)
    return made;
  return large_.open(device, kLargeBuffers, kLargeBufferBytes, "bounce buffers");
}

Status Lane::open_receives() {
  const Device& device = shared_.device;
  const Rank ranks = shared_.info.rank_count;
  if (!device.shares_receives) {
    if (auto divided = divide_completions(); !divided) return divided;
  }
  for (const MessageClass cls : {MessageClass::kRequest, MessageClass::kReply}) {
    ReceiveQueue& queue = receive_[static_cast<size_t>(cls)];
    const ReceiveQueue::Sizes sizes =
        device.shares_receives
            ? ReceiveQueue::Sizes{receives_wanted(shared_), 0, kMessageBytesMax, ranks}
            : ReceiveQueue::Sizes{own_receives(shared_, cls), ranks, kMessageBytesMax, ranks};
    if (auto made = queue.open(device, domain_.pd(device), cls, sizes); !made) return made;
    if (device.is_iwarp) queue.tell_by(senders_);
  }
  const uint32_t requests = receive_[static_cast<size_t>(MessageClass::kRequest)].posted_max();
  const uint32_t replies = receive_[static_cast<size_t>(MessageClass::kReply)].posted_max();
  return arrivals_.open(device, requests + replies, requests + ReceiveQueue::kSpare,
                        channel_.get());
}

Status Lane::try_links() {
  const Device& device = shared_.device;
  QueueSizes& sizes = shared_.sizes;
  sizes = queue_sizes_for(shared_.info.rank_count, depth_wanted(shared_.info));
  // libsiw takes a queue for one that failed whose place in the device's file is its mark of
  // failure. At this depth a small job has none there.
  if (device.is_iwarp) sizes = {depth_wanted(shared_.info), 256};
  sizes.send_depth = std::min(sizes.send_depth, static_cast<uint32_t>(device.limits.max_qp_wr));
  Peer peer;
  if (auto made = make_links(peer, sizes); !made) return made;
  check(sizes.send_depth >= kWorkRequestsMax, "a send queue that takes not even one work",
        sizes.send_depth);
  shared_.inline_bytes = std::min(sizes.inline_bytes, kInlineMax);
  return device.shares_receives ? divide_receives() : success();
}

/// Without a shared receive queue each peer has the window that its part of a shared one would give
/// it, 8 requests at least, as far as the completion queue that all connections share has entries.
Status Lane::divide_completions() {
  const ibv_device_attr& limits = shared_.device.limits;
  const Rank ranks = shared_.info.rank_count;
  const uint32_t peers = std::max(ranks - 1, 1u);
  const uint32_t wanted = std::min(shared_.info.network_depth, depth_wanted(shared_.info));
  shared_.window = std::clamp((receives_wanted(shared_) - kSlack) / peers, kOwnWindowLeast,
                              std::max(wanted, kOwnWindowLeast));
  const auto fits = [&] {
    const uint32_t requests = own_receives(shared_, MessageClass::kRequest);
    const uint32_t replies = own_receives(shared_, MessageClass::kReply);
    return replies <= static_cast<uint32_t>(limits.max_qp_wr) &&
           requests + replies <= static_cast<uint32_t>(limits.max_cqe) / ranks;
  };
  while (!fits() && shared_.window > 1) --shared_.window;
  check(shared_.window != 0, "a window that lets no request through");
  if (fits()) return success();
  return error(
      "%s has no shared receive queues, and completion queues of %d entries, too few for %u ranks; "
      "give it fewer ranks, or another device",
      shared_.device.name.c_str(), limits.max_cqe, ranks);
}

/// There is a buffer for every request that all peers may have under way, and for every reply to
/// this rank's own. With more peers than buffers InfiniBand and RoCE have a sender wait for one
/// (RNR NAK); iWARP ends a connection whose message finds none.
Status Lane::divide_receives() {
  const uint32_t peers = std::max(shared_.info.rank_count - 1, 1u);
  const uint32_t depth = receive_[0].depth();
  if (shared_.device.is_iwarp && depth < peers + kSlack) {
    return error(
        "%s has shared receive queues of %u entries, too few for %u ranks; give it fewer ranks, or "
        "another device",
        shared_.device.name.c_str(), depth, shared_.info.rank_count);
  }
  const uint32_t slack = shared_.device.is_iwarp ? kSlack : std::min(kSlack, depth / 2);
  const uint32_t share = (depth - slack) / peers;
  const uint32_t wanted = std::min(shared_.info.network_depth, depth_wanted(shared_.info));
  shared_.window = std::clamp(share, 1u, wanted);
  check(share == 0 || shared_.window * peers + slack <= depth,
        "peers have credit for more requests than there are buffers", shared_.window, depth);
  return success();
}

void Lane::close() noexcept {
  Peer* peer = met_.exchange(nullptr, std::memory_order_acquire);
  while (peer != nullptr) delete std::exchange(peer, peer->next);
  peers_.reset();
  for (ReceiveQueue& queue : receive_) queue.close();
  arrivals_.close();
  completions_.reset();
  channel_.reset();
  small_ = {};
  large_ = {};
  credit_words_.close();
  domain_.close();
}

}  // namespace pinwire::verbs

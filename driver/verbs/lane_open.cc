// Making and unmaking a lane, and connecting it.
#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "core/base/bits.h"
#include "driver/verbs/lane.h"

namespace pinwire::verbs {
namespace {

constexpr uint32_t kDepthMin = 32;
constexpr uint32_t kDepthMax = 1024;
constexpr uint32_t kCompletionsMax = 8192;
constexpr uint32_t kSmallBuffers = 256;
constexpr uint32_t kLargeBuffers = 16;
constexpr uint32_t kInlineWanted = 256;
/// Inlining is by the CPU, word by word: beyond this, copying into a buffer is as cheap.
constexpr uint32_t kInlineMax = 512;

/// Where a connection's packets start: the same at both ends, another one for each connection, so
/// that packets of an earlier job find no taker.
uint32_t first_psn(const OpenInfo& info, Rank from, Rank to, uint32_t lane, uint32_t cls) noexcept {
  uint64_t mix = info.job_key ^ (uint64_t{from} << 32 | to) ^ uint64_t { lane * 2 + cls } << 20;
  mix *= 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(mix >> 40) & 0xffffff;
}

uint32_t depth_wanted(const OpenInfo& info) noexcept {
  return std::clamp(std::bit_ceil(info.network_depth), kDepthMin, kDepthMax);
}

}  // namespace

Status Lane::open() {
  if (auto done = open_queues(); !done) return done;
  return open_connections();
}

Status Lane::open_queues() {
  const Device& device = shared_.device;
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
  tickets_.open(room_);
  finished_.reserve(room_);
  const uint32_t peers = shared_.info.rank_count - 1;
  const uint32_t depth =
      std::min(depth_wanted(shared_.info) * std::clamp(peers, 1u, 4u), kDepthMax);
  for (const MessageClass cls : {MessageClass::kRequest, MessageClass::kReply}) {
    ReceiveQueue& queue = receive_[static_cast<size_t>(cls)];
    auto made = queue.open(device, cls, depth, kMessageBytesMax, channel_.get());
    if (!made) return made;
  }
  if (auto made =
          small_.open(device, kSmallBuffers, align_up(kMessageBytesMax, 64u), "send buffers");
      !made)
    return made;
  return large_.open(device, kLargeBuffers, kLargeBufferBytes, "bounce buffers");
}

Status Lane::open_connections() {
  const Device& device = shared_.device;
  const uint32_t wanted = (shared_.info.rank_count - 1) * shared_.info.lanes * kLinksPerPeer;
  if (wanted > static_cast<uint32_t>(device.limits.max_qp)) {
    return error(
        "%s has %d queue pairs, this rank needs %u (%u lanes, two for each of %u peers); "
        "lower GASNET_LANES or run fewer ranks",
        device.name.c_str(), device.limits.max_qp, wanted, shared_.info.lanes,
        shared_.info.rank_count - 1);
  }
  peers_.resize(shared_.info.rank_count);
  QueueSizes sizes;
  sizes.send_depth =
      std::min(depth_wanted(shared_.info), static_cast<uint32_t>(device.limits.max_qp_wr));
  sizes.inline_bytes = kInlineWanted;
  for (Rank rank = 0; rank < peers_.size(); ++rank) {
    if (rank == shared_.info.rank) continue;
    for (uint32_t cls = 0; cls < kLinksPerPeer; ++cls) {
      Link& link = peers_[rank].links[cls];
      auto queue = make_queue_pair(device, completions_.get(), receive_[cls].completions(),
                                   receive_[cls].shared_queue(), sizes);
      if (!queue) return queue.error();
      link.queue = std::move(*queue);
      link.room = sizes.send_depth;
    }
  }
  shared_.inline_bytes = std::min(sizes.inline_bytes, kInlineMax);
  shared_.window = std::min(shared_.info.network_depth, depth_wanted(shared_.info));
  return success();
}

uint32_t Lane::queue_pair_number(Rank peer, uint32_t cls) const noexcept {
  const QueuePair& queue = peers_[peer].links[cls].queue;
  return queue ? queue->qp_num : 0;
}

Status Lane::connect(Rank rank, const Address& address) {
  const OpenInfo& info = shared_.info;
  Peer& peer = peers_[rank];
  for (uint32_t cls = 0; cls < kLinksPerPeer; ++cls) {
    Remote remote;
    remote.queue_pair =
        address.queue_pairs[(info.rank * address.lanes + index_) * kLinksPerPeer + cls];
    remote.psn = first_psn(info, rank, info.rank, index_, cls);
    remote.lid = address.lid;
    remote.gid = address.gid;
    remote.mtu = address.mtu;
    auto connected = connect_queue_pair(shared_.device, peer.links[cls].queue.get(), remote,
                                        first_psn(info, info.rank, rank, index_, cls),
                                        {shared_.options.timeout, shared_.options.retry_count});
    if (!connected) return connected;
  }
  peer.taken =
      reinterpret_cast<uint64_t*>(shared_.credits.base()) + index_ * info.rank_count + rank;
  peer.credit_address =
      address.credit_base + (index_ * info.rank_count + info.rank) * sizeof(uint64_t);
  peer.credit_key = address.credit_key;
  return success();
}

void Lane::close() noexcept {
  peers_.clear();
  for (ReceiveQueue& queue : receive_) queue.close();
  completions_.reset();
  channel_.reset();
  small_ = {};
  large_ = {};
}

}  // namespace pinwire::verbs

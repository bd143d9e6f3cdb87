// Work becomes requests of the device.
#include <algorithm>
#include <cstring>

#include "core/base/bits.h"
#include "core/base/no_cancel.h"
#include "driver/verbs/device/short_read.h"
#include "driver/verbs/lane/lane.h"

namespace pinwire::verbs {
namespace {

constexpr uint32_t kNoTicket = Ticket::kNone;

bool is_silent(const Work& work) noexcept { return (work.flags & kWorkSilent) != 0; }

}  // namespace

uint32_t Lane::post(std::span<const Work> work) noexcept {
  dcheck(!work.empty(), "no work is posted", index_);
  dcheck(chain_.count() == 0, "requests of an earlier call were not posted", chain_.count());
  uint32_t taken = 0;
  while (taken < work.size() && append(work[taken])) ++taken;
  if (chain_.count() != 0) ring(*chain_.link());
  return taken;
}

bool Lane::append(const Work& work) noexcept {
  dcheck(work.peer < shared_.info.rank_count, "work for a rank of the job", work.peer);
  dcheck(work.head_bytes <= kHeadBytesMax, "a head too long", work.head_bytes);
  Peer& peer = peer_at(work.peer);
  const Claim claim = claim_of(work);
  Link& link = peer.links[static_cast<size_t>(link_of(claim, shared_.device.is_iwarp))];
  const bool is_request = claim == Claim::kRequest;
  if (is_request && !peer.has_credit(shared_.window)) return false;
  // Enough for the largest work there is, so that nothing is half done.
  if (!has_room(link, kWorkRequestsMax, claim)) [[unlikely]]
    return open_peer(work.peer) && append(work);
  if (!has_buffers(work, claim)) [[unlikely]]
    return false;
  if (chain_.count() != 0 && (chain_.link() != &link || !chain_.has_room(kWorkRequestsMax))) {
    ring(*chain_.link());
  }
  if (chain_.count() == 0) chain_.start(link);
  switch (work.op) {
    case Op::kSend:
      append_message(link, work, work.bytes);
      break;
    case Op::kPut:
      if (shared_.confirms_puts && !is_silent(work)) [[unlikely]] {
        if (!append_confirmed_put(link, work)) return false;
        break;
      }
      if (!append_put(link, work, true)) return false;
      break;
    case Op::kPutSend:
      if (shared_.options.fences_puts) [[unlikely]] {
        if (!append_fenced(link, work)) return false;
        break;
      }
      // Both on one connection, whose order they keep at the target (IBA o9-20): the data is there
      // before the message is seen.
      if (!append_put(link, work, false)) return false;
      append_message(link, work, 0);
      break;
    case Op::kGet:
      if (!append_get(link, work)) return false;
      break;
    case Op::kFetchOp:
    case Op::kCompareSwap:
      if (!append_atomic(link, work)) return false;
      break;
    case Op::kScatter:
      check(false, "post: scatter_bytes_max is 0", work.bytes);
      return false;
  }
  if (is_request) ++peer.requests_sent;
  counters_.messages_sent += has_message(work);
  if (peer.pooled) [[unlikely]]
    note_sent(peer, has_message(work));
  return true;
}

/// Whether there are as many small buffers as the work may need.
bool Lane::has_buffers(const Work& work, Claim claim) const noexcept {
  if (small_.free_count() >= kWorkRequestsMax + left_by(claim, kSmallBuffers)) [[likely]]
    return true;
  const bool is_inline = work.head_bytes + work.bytes <= shared_.inline_bytes;
  return work.op == Op::kSend && (is_inline || (work.flags & kWorkLent) != 0);
}

/// A buffer as messages leave from, the head's room first. Half of them stay for all else.
Lent Lane::lend() noexcept {
  if (small_.free_count() <= kSmallBuffers / 2) return {};
  const uint32_t buffer = small_.take();
  return {small_.at(buffer) + kHeadBytesMax, kMediumBytes, buffer};
}

void Lane::take_back(const Lent& lent) noexcept {
  const auto buffer = static_cast<uint32_t>(lent.name);
  dcheck(lent.payload == small_.at(buffer) + kHeadBytesMax,
         "memory is taken back that has another name", buffer);
  small_.give(buffer);
}

void Lane::append_message(Link& link, const Work& work, uint64_t payload_bytes) noexcept {
  const uint64_t bytes = work.head_bytes + payload_bytes;
  dcheck(bytes <= kMessageBytesMax, "message too long", bytes);
  ibv_send_wr& request = chain_.add(shared_.send_opcode);
  request.imm_data = shared_.info.rank;
  uint32_t buffer = BufferPool::kNone;
  if ((work.flags & kWorkLent) != 0) {  // the payload lies in the buffer; its head goes before it
    buffer = static_cast<uint32_t>(work.lent);
    dcheck(work.local == small_.at(buffer) + kHeadBytesMax,
           "a message from other memory than was lent", buffer);
    dcheck(payload_bytes <= kMediumBytes, "a message of more bytes than were lent", payload_bytes);
    std::byte* at = static_cast<std::byte*>(work.local) - work.head_bytes;
    std::memcpy(at, work.head, work.head_bytes);
    Chain::add_piece(request, at, bytes, small_.local_key());
    counters_.bytes_in_place += payload_bytes;
  } else if (bytes <= shared_.inline_bytes) {
    request.send_flags = IBV_SEND_INLINE;
    Chain::add_piece(request, work.head, work.head_bytes, 0);
    Chain::add_piece(request, work.local, payload_bytes, 0);
    counters_.bytes_inline += bytes;
  } else {
    buffer = small_.take();
    dcheck(bytes <= small_.bytes_each(), "a message longer than its buffer", bytes);
    std::byte* at = small_.at(buffer);
    std::memcpy(at, work.head, work.head_bytes);
    if (payload_bytes != 0) std::memcpy(at + work.head_bytes, work.local, payload_bytes);
    Chain::add_piece(request, at, bytes, small_.local_key());
    counters_.bytes_copied += bytes;
  }
  finish(link, request, ticket_for(work, !is_silent(work), &small_, buffer));
}

BufferPool* Lane::pool_for(const Work& work) noexcept {
  if (work.bytes <= small_.bytes_each()) return &small_;  // has_buffers() has looked
  dcheck(work.bytes <= large_.bytes_each(), "memory without a key, larger than a buffer",
         work.bytes);
  return large_.free_count() > left_by(claim_of(work), kLargeBuffers) ? &large_ : nullptr;
}

bool Lane::append_put(Link& link, const Work& work, bool is_last) noexcept {
  const bool is_inline = work.bytes <= shared_.inline_bytes && (work.flags & kWorkDevice) == 0;
  const bool is_in_place =
      !is_inline && work.local_key != kNoRegion && (work.flags & kWorkCopied) == 0;
  BufferPool* pool = is_inline || is_in_place ? nullptr : pool_for(work);
  dcheck((work.flags & kWorkDevice) == 0 || is_in_place, "the CPU would read a device's memory",
         work.bytes);
  if (!is_inline && !is_in_place && pool == nullptr) return false;
  ibv_send_wr& request = chain_.add(IBV_WR_RDMA_WRITE);
  request.wr.rdma.remote_addr = work.remote;
  request.wr.rdma.rkey = work.remote_key;
  uint32_t buffer = BufferPool::kNone;
  if (is_inline) {
    request.send_flags = IBV_SEND_INLINE;
    Chain::add_piece(request, work.local, work.bytes, 0);
    counters_.bytes_inline += work.bytes;
  } else if (is_in_place) {
    Chain::add_piece(request, work.local, work.bytes, work.local_key);
    counters_.bytes_in_place += work.bytes;
  } else {
    dcheck(work.bytes <= pool->bytes_each(), "a put longer than its buffer", work.bytes);
    buffer = pool->take();
    std::memcpy(pool->at(buffer), work.local, work.bytes);
    Chain::add_piece(request, pool->at(buffer), work.bytes, pool->local_key());
    counters_.bytes_copied += work.bytes;
  }
  finish(link, request, ticket_for(work, is_last && !is_silent(work), pool, buffer));
  return true;
}

/// On iWARP the completion of a write says only that it has left (RFC 5040, 5.5), and others may
/// look at the target before it has arrived. A read is answered after the writes ahead of it were
/// placed: it completes in the put's stead, with bytes that nobody looks at.
bool Lane::append_confirmed_put(Link& link, const Work& work) noexcept {
  if (!append_put(link, work, false)) return false;
  // has_buffers() has looked for a small one.
  append_read(link, work, widen(work.remote, 1, std::max(shared_.device.read_bytes_min, 1u)),
              small_);
  ++counters_.puts_confirmed;
  return true;
}

bool Lane::append_get(Link& link, const Work& work) noexcept {
  if (work.bytes < shared_.device.read_bytes_min) [[unlikely]] {
    const auto bytes = static_cast<uint32_t>(work.bytes);
    return append_copied_get(link, work, widen(work.remote, bytes, shared_.device.read_bytes_min));
  }
  if (work.local_key == kNoRegion) {
    return append_copied_get(link, work, {work.remote, static_cast<uint32_t>(work.bytes), 0});
  }
  ibv_send_wr& request = chain_.add(IBV_WR_RDMA_READ);
  request.wr.rdma.remote_addr = work.remote;
  request.wr.rdma.rkey = work.remote_key;
  Chain::add_piece(request, work.local, work.bytes, work.local_key);
  counters_.bytes_in_place += work.bytes;
  finish(link, request, ticket_for(work, !is_silent(work), nullptr, BufferPool::kNone));
  return true;
}

/// Into a buffer, out of which what is wanted is copied.
bool Lane::append_copied_get(Link& link, const Work& work, const WideRead& read) noexcept {
  BufferPool* pool = pool_for(work);
  if (pool == nullptr) return false;
  dcheck(read.skipped + work.bytes <= read.bytes, "a read that does not reach what is wanted",
         read.skipped, read.bytes);
  Ticket& ticket = append_read(link, work, read, *pool);
  ticket.copy_to = static_cast<std::byte*>(work.local);
  ticket.copy_from = read.skipped;
  ticket.copy_bytes = static_cast<uint32_t>(work.bytes);
  counters_.bytes_copied += work.bytes;
  return true;
}

/// The work's last request reads into a buffer of `pool`, which has one.
Ticket& Lane::append_read(Link& link, const Work& work, const WideRead& read,
                          BufferPool& pool) noexcept {
  ibv_send_wr& request = chain_.add(IBV_WR_RDMA_READ);
  request.wr.rdma.remote_addr = read.remote;
  request.wr.rdma.rkey = work.remote_key;
  dcheck(read.bytes <= pool.bytes_each(), "a read longer than its buffer", read.bytes);
  const uint32_t buffer = pool.take();
  Chain::add_piece(request, pool.at(buffer), read.bytes, pool.local_key());
  const uint32_t index = ticket_for(work, !is_silent(work), &pool, buffer);
  finish(link, request, index);
  return tickets_.at(index);
}

bool Lane::append_atomic(Link& link, const Work& work) noexcept {
  AtomicOperands with;
  std::memcpy(&with, work.head, sizeof with);
  const bool swaps = with.code == AtomicCode::kCompareSwap;
  dcheck((kRdmaAtomics & atomic_bit(with.code)) != 0, "an atomic that no RDMA device has",
         static_cast<int>(with.code));
  dcheck(work.bytes == sizeof(uint64_t), "an atomic is of 8 bytes", work.bytes);
  dcheck(work.remote % sizeof(uint64_t) == 0, "an atomic on a word that is not aligned",
         work.remote);
  ibv_send_wr& request =
      chain_.add(swaps ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD);
  request.wr.atomic.remote_addr = work.remote;
  request.wr.atomic.rkey = work.remote_key;
  request.wr.atomic.compare_add = swaps                           ? with.compare
                                  : with.code == AtomicCode::kAdd ? with.operand
                                                                  : 0;
  request.wr.atomic.swap = with.operand;
  const uint32_t buffer = small_.take();
  Chain::add_piece(request, small_.at(buffer), sizeof(uint64_t), small_.local_key());
  const uint32_t index = ticket_for(work, !is_silent(work), &small_, buffer);
  tickets_.at(index).copy_to = static_cast<std::byte*>(work.local);
  tickets_.at(index).copy_bytes = sizeof(uint64_t);
  finish(link, request, index);
  ++counters_.atomics;
  return true;
}

uint32_t Lane::ticket_for(const Work& work, bool owes_done, BufferPool* pool,
                          uint32_t buffer) noexcept {
  if (!owes_done && buffer == BufferPool::kNone) return kNoTicket;
  dcheck(tickets_.free_count() > finished_.size(), "a ticket is taken whose completion has no room",
         finished_.size());
  const uint32_t index = tickets_.take();
  Ticket& ticket = tickets_.at(index);
  ticket.cookie = work.cookie;
  ticket.after = owes_done ? After::kDone : After::kNothing;
  ticket.buffer = buffer;
  ticket.pool = pool;
  return index;
}

void Lane::finish(Link& link, ibv_send_wr& request, uint32_t ticket) noexcept {
  dcheck(link.room > 0, "a connection takes more requests than its queue holds", link.room);
  dcheck(room_ > 0, "a lane takes more requests than its completion queue holds", room_);
  dcheck(link.unsignalled < kSignalEvery, "a connection's room never comes back", link.unsignalled);
  dcheck(chain_.link() == &link, "a request is in the chain of another connection than its own");
  --link.room;
  --room_;
  ++link.unsignalled;
  if (ticket == kNoTicket) {
    if (link.unsignalled < kSignalEvery) return;
    ticket = tickets_.take();
  }
  request.send_flags |= IBV_SEND_SIGNALED;
  request.wr_id = ticket + 1;  // 0: unsignalled
  Ticket& kept = tickets_.at(ticket);
  dcheck(kept.link == nullptr, "two requests bear one ticket", ticket);
  kept.link = &link;
  kept.covers = link.unsignalled;
  link.unsignalled = 0;
  ++counters_.signalled;
}

void Lane::ring(Link& link) noexcept {
  const NoCancel whole(shared_.device.calls_kernel);  // the caller's lane is locked
  dcheck(chain_.link() == &link, "requests are posted on another connection than theirs");
  dcheck(link.queue != nullptr, "requests are posted on a connection that is closed");
  ibv_send_wr* refused = nullptr;
  const int failed = ibv_post_send(link.queue.get(), chain_.first(), &refused);
  if (failed != 0) [[unlikely]]
    take_back(refused, failed);
  counters_.requests_posted += chain_.count();
  ++counters_.doorbells;
  chain_.start(link);
}

void Lane::take_back(const ibv_send_wr* refused, int reason) noexcept {
  check(shared_.failure.get() != nullptr, "the device refused requests that it has room for",
        reason, chain_.count());
  for (; refused != nullptr; refused = refused->next) {
    if (refused->wr_id == 0) continue;
    ibv_wc flushed{};
    flushed.wr_id = refused->wr_id;
    flushed.status = IBV_WC_WR_FLUSH_ERR;
    settle(flushed);
  }
}

}  // namespace pinwire::verbs

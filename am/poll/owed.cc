#include "am/poll/owed.h"

#include <bit>
#include <cstring>
#include <new>

#include "am/message/done_count.h"
#include "am/poll/owed_memory.h"
#include "core/base/counter.h"

namespace pinwire {

/// A reply, and after it its payload.
struct OwedReply {
  OwedReply* next;
  OwedMemory::Chunk* chunk;
  uint64_t bytes;  ///< of memory
  DoneCount done;  ///< of one that the driver sends from here
  Work work;
  alignas(16) std::byte head[kHeadBytesMax];
};

/// A peer, and what is owed to it, the oldest first.
struct Creditor {
  Creditor* next;
  OwedMemory::Chunk* chunk;
  Rank peer;
  OwedReply *first, *last;
  uint64_t bytes;
};

/// The creditors of a lane by their rank's lowest bits: each poll turns to those of one bucket.
struct OwedReplies {
  static constexpr uint32_t kBuckets = 64;

  OwedMemory memory;
  uint64_t bytes;
  uint64_t occupied;     ///< buckets with creditors
  uint32_t turn;         ///< the bucket after the one that was served last
  uint32_t unsent;       ///< replies that the driver has not taken
  OwedReply* under_way;  ///< those that it has, and still reads
  Creditor* buckets[kBuckets];
};

namespace {

/// The largest Medium to each Short of 64 frames, of 1,514 bytes, takes 24 MB.
constexpr uint64_t kPeerBytesMax = 32 << 20;
constexpr uint64_t kLaneBytesMax = 256 << 20;

struct OwedCounters {
  SharedCounter replies, refusals;
};
constinit OwedCounters owed_counters;

uint32_t bucket_of(Rank peer) noexcept { return peer % OwedReplies::kBuckets; }

Creditor* find(const OwedReplies* owed, Rank peer) noexcept {
  if (owed == nullptr) return nullptr;
  Creditor* creditor = owed->buckets[bucket_of(peer)];
  while (creditor != nullptr && creditor->peer != peer) creditor = creditor->next;
  return creditor;
}

/// nullptr: no memory.
Creditor* add_creditor(OwedReplies& owed, Rank peer) noexcept {
  if constexpr (kChecks) dcheck(find(&owed, peer) == nullptr, "a peer is a creditor twice", peer);
  const OwedMemory::Piece piece = owed.memory.take(sizeof(Creditor));
  if (piece.memory == nullptr) return nullptr;
  const uint32_t bucket = bucket_of(peer);
  owed.occupied |= uint64_t{1} << bucket;
  return owed.buckets[bucket] = new (piece.memory)
             Creditor{owed.buckets[bucket], piece.chunk, peer, nullptr, nullptr, 0};
}

bool is_silent(const Work& reply) noexcept { return (reply.flags & kWorkSilent) != 0; }

uint64_t payload_bytes(const Work& reply) noexcept {
  return reply.flags & kWorkLent ? 0 : reply.bytes;
}
uint64_t memory_bytes(const Work& reply) noexcept {
  return sizeof(OwedReply) + payload_bytes(reply);
}

/// nullptr: no memory.
OwedReply* copy_reply(OwedReplies& owed, const Work& reply) noexcept {
  dcheck(reply.head_bytes <= kHeadBytesMax, "a head that is too long", reply.head_bytes);
  dcheck(payload_bytes(reply) == 0 || reply.local != nullptr, "a payload that is nowhere",
         reply.bytes);
  const uint64_t bytes = memory_bytes(reply);
  const OwedMemory::Piece piece = owed.memory.take(bytes);
  if (piece.memory == nullptr) return nullptr;
  auto* copy = new (piece.memory) OwedReply{nullptr, piece.chunk, bytes, {}, reply, {}};
  std::memcpy(copy->head, reply.head, reply.head_bytes);
  copy->work.head = copy->head;
  if (!is_silent(reply)) copy->work.cookie = cookie_of(copy->done);
  if (payload_bytes(reply) != 0) {
    copy->work.local = copy + 1;
    std::memcpy(copy->work.local, reply.local, reply.bytes);
  }
  return copy;
}

void drop(OwedReplies& owed, const OwedReply& reply) noexcept {
  dcheck(owed.bytes >= reply.bytes, "more is dropped than is owed", owed.bytes, reply.bytes);
  owed.bytes -= reply.bytes;
  owed.memory.give_back(reply.chunk);
}

/// False: the driver has no room.
bool send_first(DriverSlot& slot, uint32_t lane, OwedReplies& owed, Creditor& creditor) noexcept {
  OwedReply& reply = *creditor.first;
  dcheck(reply.work.peer == creditor.peer, "a reply that is owed to another peer", reply.work.peer,
         creditor.peer);
  dcheck(owed.unsent != 0, "a reply that is not counted is owed", creditor.peer);
  dcheck(creditor.bytes >= reply.bytes, "more is sent than is owed to the peer", creditor.bytes,
         reply.bytes);
  if (slot.driver->post(lane, {&reply.work, 1}) == 0) return false;
  --owed.unsent;
  creditor.first = reply.next;
  creditor.bytes -= reply.bytes;
  if (is_silent(reply.work)) {
    drop(owed, reply);
  } else {
    ++slot.lanes[lane].pending;
    reply.next = owed.under_way;
    owed.under_way = &reply;
  }
  return true;
}

void send_all(DriverSlot& slot, uint32_t lane, OwedReplies& owed, uint32_t bucket) noexcept {
  dcheck(bucket < OwedReplies::kBuckets, "no bucket of creditors", bucket);
  Creditor** place = &owed.buckets[bucket];
  while (Creditor* creditor = *place) {
    while (creditor->first != nullptr && send_first(slot, lane, owed, *creditor)) {
    }
    if (creditor->first != nullptr) {
      place = &creditor->next;
    } else {
      dcheck(creditor->bytes == 0, "bytes are owed without a reply", creditor->peer,
             creditor->bytes);
      *place = creditor->next;
      owed.memory.give_back(creditor->chunk);
    }
  }
  if (owed.buckets[bucket] == nullptr) owed.occupied &= ~(uint64_t{1} << bucket);
}

/// Returns how many are left.
uint32_t drop_done(OwedReplies& owed) noexcept {
  uint32_t left = 0;
  OwedReply** place = &owed.under_way;
  while (OwedReply* reply = *place) {
    if (reply->done.load(std::memory_order_acquire) == 0) {
      place = &reply->next;
      ++left;
    } else {
      *place = reply->next;
      drop(owed, *reply);
    }
  }
  return left;
}

void forget_done(DriverLane& lane, OwedReplies& owed) noexcept {
  const uint32_t left = owed.unsent + drop_done(owed);
  lane.owed_count.store(left, std::memory_order_relaxed);
  if (left != 0) return;
  dcheck(owed.bytes == 0, "bytes are owed without a reply", owed.bytes);
  dcheck(owed.occupied == 0, "creditors are left who are owed nothing", owed.occupied);
  owed.memory.release();
}

bool has_room(const OwedReplies& owed, const Creditor* creditor, const Work& reply) noexcept {
  const uint64_t bytes = memory_bytes(reply);
  return owed.bytes + bytes <= kLaneBytesMax &&
         (creditor != nullptr ? creditor->bytes : 0) + bytes <= kPeerBytesMax;
}

bool add_reply(OwedReplies& owed, const Work& reply) noexcept {
  Creditor* creditor = find(&owed, reply.peer);
  if (!has_room(owed, creditor, reply)) return false;
  OwedReply* copy = copy_reply(owed, reply);
  if (copy == nullptr) return false;
  if (creditor == nullptr) creditor = add_creditor(owed, reply.peer);
  if (creditor == nullptr) {
    owed.memory.give_back(copy->chunk);
    return false;
  }
  dcheck(creditor->last == nullptr || creditor->first == nullptr || creditor->last->next == nullptr,
         "the last reply to a peer has one behind it", reply.peer);
  (creditor->first == nullptr ? creditor->first : creditor->last->next) = copy;
  creditor->last = copy;
  creditor->bytes += copy->bytes;
  owed.bytes += copy->bytes;
  ++owed.unsent;
  return true;
}

}  // namespace

bool owes_to(const DriverLane& lane, Rank peer) noexcept {
  return owes(lane) && find(lane.owed, peer) != nullptr;
}

bool owes_unsent(const DriverLane& lane) noexcept {
  dcheck(lane.owed != nullptr || !owes(lane), "a lane owes without a memory of it");
  return owes(lane) && lane.owed->unsent != 0;
}

bool owe_reply(DriverSlot& slot, uint32_t lane, const Work& reply) noexcept {
  check((reply.op == Op::kSend || reply.op == Op::kPutSend) && reply.cls == MessageClass::kReply,
        "only replies are owed");
  check(is_silent(reply) == ((reply.flags & kWorkCopied) != 0),
        "nobody else waits for what is owed");
  dcheck(lane < slot.lane_count, "no lane to owe a reply", lane, slot.lane_count);
  DriverLane& debtor = slot.lanes[lane];
  if constexpr (kChecks) dcheck(debtor.is_held(), "a lane owes without its lock", lane);
  if (debtor.owed == nullptr) {
    if (void* memory = map_zeroed(sizeof(OwedReplies))) debtor.owed = new (memory) OwedReplies{};
  }
  if (debtor.owed == nullptr || !add_reply(*debtor.owed, reply)) {
    ++owed_counters.refusals;
    return false;
  }
  ++owed_counters.replies;
  if (!is_silent(reply)) send_all(slot, lane, *debtor.owed, bucket_of(reply.peer));
  forget_done(debtor, *debtor.owed);
  return true;
}

void settle_owed(DriverSlot& slot, uint32_t lane) noexcept {
  DriverLane& debtor = slot.lanes[lane];
  if (!owes(debtor)) return;
  if constexpr (kChecks) dcheck(debtor.is_held(), "a lane settles without its lock", lane);
  OwedReplies& owed = *debtor.owed;
  if (owed.occupied != 0) {
    dcheck(owed.turn < OwedReplies::kBuckets, "the turn of no bucket", owed.turn);
    const uint64_t after = owed.occupied & ~uint64_t{0} << owed.turn;
    const auto bucket = static_cast<uint32_t>(std::countr_zero(after != 0 ? after : owed.occupied));
    dcheck(owed.buckets[bucket] != nullptr, "an occupied bucket without a creditor", bucket);
    owed.turn = (bucket + 1) % OwedReplies::kBuckets;
    send_all(slot, lane, owed, bucket);
  }
  forget_done(debtor, owed);
}

void report_owed(StatSink& sink) noexcept {
  sink.stat("owed", owed_counters.replies);
  sink.stat("owed_in_vain", owed_counters.refusals);
}

}  // namespace pinwire

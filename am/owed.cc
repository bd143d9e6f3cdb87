#include "am/owed.h"

#include <bit>
#include <cstring>
#include <new>

#include "am/owed_memory.h"
#include "core/base/counter.h"

namespace pinwire {

/// A reply, and after it its payload.
struct OwedReply {
  OwedReply* next;
  OwedMemory::Chunk* chunk;
  uint64_t bytes;  ///< of memory
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
  uint64_t occupied;  ///< buckets with creditors
  uint32_t turn;      ///< the bucket after the one that was served last
  Creditor* buckets[kBuckets];
};

namespace {

/// The largest Medium to each Short of 64 frames, of 1,514 bytes, takes 24 MB.
constexpr uint64_t kPeerBytesMax = 32 << 20;
constexpr uint64_t kLaneBytesMax = 256 << 20;

struct Counters {
  SharedCounter replies, refusals;
};
constinit Counters counters;

uint32_t bucket_of(Rank peer) noexcept { return peer % OwedReplies::kBuckets; }

Creditor* find(const OwedReplies* owed, Rank peer) noexcept {
  if (owed == nullptr) return nullptr;
  Creditor* creditor = owed->buckets[bucket_of(peer)];
  while (creditor != nullptr && creditor->peer != peer) creditor = creditor->next;
  return creditor;
}

/// nullptr: no memory.
Creditor* find_or_add(OwedReplies& owed, Rank peer) noexcept {
  if (Creditor* known = find(&owed, peer)) return known;
  const OwedMemory::Piece piece = owed.memory.take(sizeof(Creditor));
  if (piece.memory == nullptr) return nullptr;
  const uint32_t bucket = bucket_of(peer);
  owed.occupied |= uint64_t{1} << bucket;
  return owed.buckets[bucket] = new (piece.memory)
             Creditor{owed.buckets[bucket], piece.chunk, peer, nullptr, nullptr, 0};
}

uint64_t payload_bytes(const Work& reply) noexcept {
  return reply.flags & kWorkLent ? 0 : reply.bytes;
}

/// nullptr: no memory.
OwedReply* copy_reply(OwedReplies& owed, const Work& reply) noexcept {
  const uint64_t bytes = sizeof(OwedReply) + payload_bytes(reply);
  const OwedMemory::Piece piece = owed.memory.take(bytes);
  if (piece.memory == nullptr) return nullptr;
  auto* copy = new (piece.memory) OwedReply{nullptr, piece.chunk, bytes, reply, {}};
  std::memcpy(copy->head, reply.head, reply.head_bytes);
  copy->work.head = copy->head;
  if (payload_bytes(reply) != 0) {
    copy->work.local = copy + 1;
    std::memcpy(copy->work.local, reply.local, reply.bytes);
  }
  return copy;
}

void drop_first(OwedReplies& owed, Creditor& creditor) noexcept {
  OwedReply* done = creditor.first;
  creditor.first = done->next;
  creditor.bytes -= done->bytes;
  owed.bytes -= done->bytes;
  owed.memory.give_back(done->chunk);
}

/// Returns how many replies the driver took.
uint32_t settle_bucket(Driver& driver, uint32_t lane, OwedReplies& owed, uint32_t bucket) noexcept {
  uint32_t sent = 0;
  Creditor** place = &owed.buckets[bucket];
  while (Creditor* creditor = *place) {
    while (creditor->first != nullptr && driver.post(lane, {&creditor->first->work, 1}) == 1) {
      drop_first(owed, *creditor);
      ++sent;
    }
    if (creditor->first != nullptr) {
      place = &creditor->next;
    } else {
      *place = creditor->next;
      owed.memory.give_back(creditor->chunk);
    }
  }
  if (owed.buckets[bucket] == nullptr) owed.occupied &= ~(uint64_t{1} << bucket);
  return sent;
}

bool has_room(const OwedReplies& owed, const Creditor* creditor, const Work& reply) noexcept {
  const uint64_t bytes = sizeof(OwedReply) + payload_bytes(reply);
  return owed.bytes + bytes <= kLaneBytesMax &&
         (creditor != nullptr ? creditor->bytes : 0) + bytes <= kPeerBytesMax;
}

bool add_reply(OwedReplies& owed, const Work& reply) noexcept {
  if (!has_room(owed, find(&owed, reply.peer), reply)) return false;
  OwedReply* copy = copy_reply(owed, reply);
  if (copy == nullptr) return false;
  Creditor* creditor = find_or_add(owed, reply.peer);
  if (creditor == nullptr) {
    owed.memory.give_back(copy->chunk);
    return false;
  }
  (creditor->first == nullptr ? creditor->first : creditor->last->next) = copy;
  creditor->last = copy;
  creditor->bytes += copy->bytes;
  owed.bytes += copy->bytes;
  return true;
}

}  // namespace

bool owes_to(const DriverLane& lane, Rank peer) noexcept {
  return owes(lane) && find(lane.owed, peer) != nullptr;
}

bool owe_reply(DriverLane& lane, const Work& reply) noexcept {
  check((reply.op == Op::kSend || reply.op == Op::kPutSend) && reply.cls == MessageClass::kReply,
        "only replies are owed");
  check((reply.flags & kWorkCopied) && (reply.flags & kWorkSilent),
        "nobody waits for what is owed, and it is copied");
  if (lane.owed == nullptr) {
    if (void* memory = map_zeroed(sizeof(OwedReplies))) lane.owed = new (memory) OwedReplies{};
  }
  if (lane.owed == nullptr || !add_reply(*lane.owed, reply)) {
    ++counters.refusals;
    return false;
  }
  lane.owed_count.store(lane.owed_count.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  ++counters.replies;
  return true;
}

uint32_t settle_owed(DriverSlot& slot, uint32_t lane) noexcept {
  DriverLane& debtor = slot.lanes[lane];
  if (!owes(debtor)) return 0;
  OwedReplies& owed = *debtor.owed;
  const uint64_t after = owed.occupied & ~uint64_t{0} << owed.turn;
  const auto bucket = static_cast<uint32_t>(std::countr_zero(after != 0 ? after : owed.occupied));
  owed.turn = (bucket + 1) % OwedReplies::kBuckets;
  const uint32_t sent = settle_bucket(*slot.driver, lane, owed, bucket);
  const uint32_t left = debtor.owed_count.load(std::memory_order_relaxed) - sent;
  debtor.owed_count.store(left, std::memory_order_relaxed);
  if (left == 0) owed.memory.release();
  return sent;
}

void report_owed(StatSink& sink) noexcept {
  sink.stat("owed", counters.replies);
  sink.stat("owed_in_vain", counters.refusals);
}

}  // namespace pinwire

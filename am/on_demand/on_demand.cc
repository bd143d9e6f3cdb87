#include "am/on_demand/on_demand.h"

#include <algorithm>

#include "am/handlers/handler_watch.h"
#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/message/tracked.h"
#include "am/on_demand/by_message.h"
#include "am/on_demand/exchange.h"
#include "am/on_demand/visit.h"
#include "am/send/outgoing.h"
#include "am/send/post.h"
#include "am/wait/wait.h"
#include "am/wake/sleepers.h"
#include "pin/demand.h"

namespace pinwire {
namespace {

struct Transfer {
  Op op;
  Target to;  ///< or from
  std::byte* local;
  uint64_t remote;
  uint64_t bytes;
  bool is_copied;
  DoneCount& done;
  Patience patience = Patience::kWaits;

  /// The patience for the piece at this offset: a transfer that has begun is completed.
  Patience patience_at(uint64_t at) const noexcept { return at == 0 ? patience : Patience::kWaits; }
};

/// Own memory of a piece: its key, and how many bytes the key covers.
struct LocalPlace {
  uint32_t bucket = Buckets::kNone;
  uint32_t key = kNoRegion;
  uint64_t bytes_max = 0;
};

uint32_t local_key_for(Op op, const Route& route, const void* address, uint64_t bytes) noexcept {
  return op == Op::kGet ? engine.local_key(route.driver_index, address, bytes)
                        : engine.source_key(route.driver_index, address, bytes);
}

LocalPlace place_of(const Route& route, const Transfer& all, uint64_t at, uint64_t bytes,
                    const AlonePin* alone) noexcept {
  const Caps& caps = engine.caps_of(route);
  if (all.is_copied) return {Buckets::kNone, kNoRegion, caps.copied_bytes_max};
  if (all.op == Op::kPut && bytes <= caps.inline_bytes_max)
    return {Buckets::kNone, kNoRegion, bytes};
  if (alone != nullptr) return {Buckets::kNone, alone->pinned.region.local_key, bytes};
  const std::byte* address = all.local + at;
  const uint32_t key = local_key_for(all.op, route, address, bytes);
  if (key != kNoRegion) return {Buckets::kNone, key, bytes};
  dcheck(demands[route.driver_index] != nullptr, "memory is pinned for a driver that pins none",
         route.driver_index);
  Buckets& own = demands[route.driver_index]->own;
  const auto used = own.use(address, all.bytes > caps.copied_bytes_max);
  if (used.index != Buckets::kNone) {
    dcheck(used.end > reinterpret_cast<uint64_t>(address), "a bucket ends before it is used",
           used.end);
    return {used.index, used.key, used.end - reinterpret_cast<uint64_t>(address)};
  }
  own.count_bounce();
  return {Buckets::kNone, kNoRegion, caps.copied_bytes_max};
}

Tracked* take_tracked_for(Patience patience) noexcept {
  Tracked* tracked = take_tracked();
  if (tracked == nullptr && patience == Patience::kWaits) [[unlikely]] {
    wait_until([&]() noexcept { return (tracked = take_tracked()) != nullptr; });
  }
  return tracked;
}

void give_back(const Route& route, const RemoteBucket& remote, const LocalPlace& local) noexcept {
  dcheck(demands[route.driver_index] != nullptr, "buckets of a driver that has none",
         route.driver_index);
  Demand& demand = *demands[route.driver_index];
  if (remote.index != RemoteCache::kNone) demand.put_back(remote.index);
  if (local.bucket != Buckets::kNone) demand.own.done(local.bucket);
  note_progress();
}

/// Hands the remote bucket and the local place over to the completion of the work, which gives them
/// back. False: they were given back immediately, because no more completions can be tracked.
bool track(Work& work, const Route& route, const RemoteBucket& remote, const LocalPlace& local,
           AlonePin* alone, Patience patience) noexcept {
  if (remote.index == RemoteCache::kNone && local.bucket == Buckets::kNone && alone == nullptr) {
    return true;
  }
  Tracked* tracked = take_tracked_for(patience);
  if (tracked == nullptr) {
    give_back(route, remote, local);
    return false;
  }
  dcheck((work.cookie & kTrackedBit) == 0, "work is tracked twice", work.cookie);
  tracked->cookie = work.cookie;
  tracked->driver = route.driver_index;
  tracked->remote = remote.index;
  tracked->local = local.bucket;
  tracked->alone = alone;
  if (alone != nullptr) alone->pieces.fetch_add(1, std::memory_order_relaxed);
  work.cookie = cookie_of(*tracked);
  return true;
}

/// False: there was no room, and nothing is tracked any more.
bool post_tracked(const Route& route, const Work& work, Patience patience) noexcept {
  if (post_from_client(route, work, patience)) return true;
  if ((work.cookie & kTrackedBit) != 0) finish_tracked(work.cookie);
  return false;
}

/// nullptr: not worth it, or not to be had.
AlonePin* pin_alone(const Route& route, const Transfer& all) noexcept {
  if (all.is_copied || all.bytes < kAloneBytesMin) return nullptr;
  if (local_key_for(all.op, route, all.local, all.bytes) != kNoRegion) return nullptr;
  Buckets& own = demands[route.driver_index]->own;
  if (own.covers(all.local)) return nullptr;
  AlonePin* pin = take_alone_pin();
  if (pin == nullptr) return nullptr;
  pin->driver = route.driver_index;
  pin->pieces.store(1, std::memory_order_relaxed);
  pin->pinned = own.pin_alone(all.local, all.bytes);
  if (pin->pinned.region.bytes != 0) return pin;
  drop_piece(pin);
  return nullptr;
}

uint32_t by_message(const Transfer& all, uint64_t at, uint64_t bytes) noexcept {
  const Patience patience = all.patience_at(at);
  return all.op == Op::kPut
             ? put_by_message(all.to, all.remote + at, all.local + at, bytes, all.done, patience)
             : get_by_message(all.to, all.remote + at, all.local + at, bytes, all.done, patience);
}

/// `key`: of all the peer's memory of the transfer, unless it is reached by buckets.
RemoteBucket remote_of(const Route& route, const Transfer& all, uint64_t at,
                       uint32_t key) noexcept {
  if (route.reach == Reach::kBuckets) {
    // All pieces of one that tries: the rest goes by messages, too, rather than wait for an answer.
    return all.patience == Patience::kTries ? known_or_wished(rank_of(all.to), all.remote + at)
                                            : reach_bucket(rank_of(all.to), all.remote + at);
  }
  return {RemoteCache::kNone, key, all.remote + all.bytes};
}

uint32_t start_under(const Transfer& all, uint32_t key) noexcept {
  const Route& route = engine.routes[all.to];
  const Caps& caps = engine.caps_of(route);
  AlonePin* alone = pin_alone(route, all);
  uint32_t count = 0;
  for (uint64_t at = 0; at < all.bytes;) {
    const RemoteBucket remote = remote_of(route, all, at, key);
    dcheck(remote.end > all.remote + at, "a bucket ends before its piece", remote.end, at);
    uint64_t piece = std::min(all.bytes - at, remote.end - (all.remote + at));
    if (remote.key == kNoRegion) {
      const uint32_t sent = by_message(all, at, piece);
      if (sent == 0) break;
      count += sent;
      at += piece;
      continue;
    }
    piece = std::min(piece, caps.put_bytes_max);
    const LocalPlace local = place_of(route, all, at, piece, alone);
    dcheck(local.bytes_max != 0, "a piece of no bytes", at, all.bytes);
    piece = std::min(piece, local.bytes_max);
    Work work{};
    work.op = all.op;
    work.cls = MessageClass::kRequest;
    work.flags = all.is_copied ? kWorkCopied : 0;
    work.peer = rank_of(all.to);
    work.cookie = cookie_of(all.done);
    work.local = all.local + at;
    work.bytes = piece;
    work.remote = all.remote + at;
    work.remote_key = remote.key;
    work.local_key = local.key;
    const Patience patience = all.patience_at(at);
    if (!track(work, route, remote, local, alone, patience)) break;
    if (!post_tracked(route, work, patience)) break;
    ++count;
    at += piece;
  }
  if (alone != nullptr) drop_piece(alone);
  return count;
}

/// With memory that the peer pins for this transfer alone; done when it returns, as the peer must
/// be told of the end.
uint32_t visit(const Transfer& all) noexcept {
  dcheck(all.patience == Patience::kWaits, "a call that does not wait asks for a visit", all.to);
  const Visit visit = begin_visit(rank_of(all.to), all.remote, all.bytes);
  if (visit.key == kNoRegion) return by_message(all, 0, all.bytes);
  DoneCount here{0};
  const Transfer inner{all.op, all.to, all.local, all.remote, all.bytes, all.is_copied, here};
  const uint32_t count = start_under(inner, visit.key);
  wait_until([&] { return here.load(std::memory_order_acquire) == count; });
  end_visit(rank_of(all.to), visit);
  return 0;
}

uint32_t start(PathKind kind, const Transfer& all) noexcept {
  if (kind == PathKind::kMessages) return by_message(all, 0, all.bytes);
  if (kind == PathKind::kVisit) return visit(all);
  const Route& route = engine.routes[all.to];
  dcheck(kind == PathKind::kPinned || kind == PathKind::kBuckets, "a path that pins nothing",
         static_cast<int>(kind));
  dcheck((kind == PathKind::kBuckets) == (route.reach == Reach::kBuckets),
         "a path by buckets leads to memory that has none, or another to memory that has",
         static_cast<int>(kind));
  const bool is_get = all.op == Op::kGet;
  return start_under(all, is_get ? engine.read_key(rank_of(all.to), route) : route.region_key);
}

enum class PutSend : uint8_t { kSent, kNoRoom, kNoWay };

/// In one piece, its message with it, if it is to be had so.
PutSend put_send(const pinwire_token* token, const AmHead& head, uint32_t head_bytes,
                 const Transfer& all, bool is_async) noexcept {
  const Route& route = engine.routes[all.to];
  const RemoteBucket remote = token == nullptr ? remote_of(route, all, 0, kNoRegion)
                                               : known_bucket(rank_of(all.to), all.remote);
  if (remote.key == kNoRegion) return PutSend::kNoWay;
  const bool fits =
      all.bytes <= remote.end - all.remote && all.bytes <= engine.caps_of(route).put_bytes_max;
  const LocalPlace local = fits ? place_of(route, all, 0, all.bytes, nullptr) : LocalPlace{};
  Tracked* tracked = all.bytes <= local.bytes_max ? take_tracked() : nullptr;
  if (tracked == nullptr) {
    give_back(route, remote, local);
    return PutSend::kNoWay;
  }
  // Only a pinned source may be read as late as the device likes (C1-146).
  const bool waits = !all.is_copied && (!is_async || local.key == kNoRegion);
  dcheck(!all.is_copied || all.bytes <= engine.caps_of(route).copied_bytes_max,
         "a Long that is too large to be copied", all.bytes);
  Work work = send_work(token, all.to, head, head_bytes);
  work.op = Op::kPutSend;
  work.flags = all.is_copied ? kWorkCopied : 0;
  work.local = all.local;
  work.bytes = all.bytes;
  work.remote = all.remote;
  work.remote_key = remote.key;
  work.local_key = local.key;
  *tracked = {waits ? cookie_of(all.done) : 0, route.driver_index, remote.index, local.bucket};
  work.cookie = cookie_of(*tracked);
  if (!post(token, route, work, all.patience)) {
    finish_tracked(work.cookie);
    return PutSend::kNoRoom;
  }
  if (waits) wait_for(token, route, all.done, 1);
  return PutSend::kSent;
}

}  // namespace

uint32_t put_on_demand(const Path& path, Target to, uint64_t dest, const void* source, size_t bytes,
                       DoneCount& done, Patience patience) noexcept {
  auto* local = static_cast<std::byte*>(unconst(source));
  return start(path.kind, {Op::kPut, to, local, dest, bytes, path.is_copied, done, patience});
}

uint32_t get_on_demand(const Path& path, Target from, uint64_t source, void* dest, size_t bytes,
                       DoneCount& done, Patience patience) noexcept {
  auto* local = static_cast<std::byte*>(dest);
  return start(path.kind, {Op::kGet, from, local, source, bytes, false, done, patience});
}

bool long_on_demand(const Path& path, const pinwire_token* token, Target to, const AmCall& call,
                    const void* source, size_t bytes, void* dest, bool is_async) noexcept {
  dcheck(bytes != 0, "a Long of nothing needs no memory", call.handler);
  const Route& route = engine.routes[to];
  AmHead head;
  const uint32_t head_bytes = build_head(
      head, Category::kLong, call.handler, call.argc, call.args, static_cast<uint32_t>(bytes),
      reinterpret_cast<uint64_t>(dest), endpoints_of(token, to, call));
  mark_async(head, is_async);
  DoneCount done{0};
  const Transfer all{Op::kPut,
                     to,
                     static_cast<std::byte*>(unconst(source)),
                     reinterpret_cast<uint64_t>(dest),
                     bytes,
                     path.is_copied,
                     done,
                     call.patience};
  if (path.kind == PathKind::kBuckets) {
    const PutSend sent = put_send(token, head, head_bytes, all, is_async);
    if (sent != PutSend::kNoWay) return sent == PutSend::kSent;
  }
  if (token != nullptr || call.patience == Patience::kTries) {
    return long_by_message(token, to, call, source, bytes, dest, is_async);
  }
  const uint32_t count = start(path.kind, all);
  wait_for(token, route, done, count);
  return post(token, route, send_work(token, to, head, head_bytes));
}

}  // namespace pinwire

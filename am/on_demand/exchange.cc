#include "am/on_demand/exchange.h"

#include "am/handlers/handlers.h"
#include "am/message/call.h"
#include "am/message/message.h"
#include "am/send/send.h"
#include "am/wait/wait.h"
#include "am/wake/sleepers.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "pin/demand.h"

namespace pinwire {
namespace {

using Guard = std::lock_guard<PinLock>;
constexpr uint32_t kNoEntry = RemoteCache::kNone;

Demand& demand_for(Rank peer) noexcept {
  Demand* const demand = demands[engine.routes[peer].driver_index];
  dcheck(demand != nullptr, "buckets of a peer whose driver has none", peer);
  return *demand;
}

/// The bucket of an entry in use, if it is ready and holds `address`; otherwise puts the entry back
/// and returns none. The caller holds the lock.
RemoteBucket read_entry(RemoteCache& cache, uint32_t index, uint64_t address,
                        uint64_t bucket_end) noexcept {
  const RemoteCache::Entry& entry = cache.at(index);
  if (entry.state == RemoteCache::State::kReady && address >= entry.from && address < entry.to) {
    dcheck(entry.key != kNoRegion, "a bucket that is ready has no key", index);
    return {index, entry.key, entry.to};
  }
  dcheck(entry.state != RemoteCache::State::kFree, "a bucket is in use, and free", index);
  cache.put_back(index);
  note_progress();
  return {kNoEntry, kNoRegion, bucket_end};
}

bool ask_owner(Rank peer, uint64_t number, const RemoteCache::Want& want,
               Patience patience = Patience::kWaits) noexcept {
  dcheck(want.index != kNoEntry, "the owner of no bucket is asked", peer);
  const int32_t args[] = {static_cast<int32_t>(want.index), static_cast<int32_t>(want.gives_back),
                          low_half(number), high_half(number)};
  return request_short(peer, call_with(kHandlerBucketWanted, args, patience));
}

[[noreturn, gnu::cold]] void malformed_demand(Rank peer, const char* what) noexcept {
  fatal("rank %u sent %s that makes no sense; run the same build on every rank", peer, what);
}

void on_wanted(pinwire_token* token, int32_t asker_index, int32_t gives_back, int32_t number_low,
               int32_t number_high) {
  const Rank peer = token->source;
  Demand* demand = demands[engine.routes[peer].driver_index];
  if (demand == nullptr) malformed_demand(peer, "a request for a bucket");
  Buckets::Granted granted;
  switch (demand->own.grant(peer, join_halves(number_low, number_high),
                            static_cast<uint32_t>(gives_back), granted)) {
    case Buckets::Answer::kGranted: {
      const int32_t args[] = {asker_index, static_cast<int32_t>(granted.index),
                              static_cast<int32_t>(granted.key), static_cast<int32_t>(granted.from),
                              static_cast<int32_t>(granted.to)};
      reply_short(*token, call_with(kHandlerBucketGranted, args));
      return;
    }
    case Buckets::Answer::kRefused: {
      const int32_t args[] = {asker_index};
      reply_short(*token, call_with(kHandlerBucketRefused, args));
      return;
    }
    case Buckets::Answer::kMalformed:
      malformed_demand(peer, "a request for a bucket");
  }
}

void on_granted(pinwire_token* token, int32_t asker_index, int32_t owners_index, int32_t key,
                int32_t from, int32_t to) {
  const Rank peer = token->source;
  Demand* demand = demands[engine.routes[peer].driver_index];
  if (demand == nullptr) malformed_demand(peer, "a grant of a bucket");
  RemoteCache::Told told;
  told.owners_index = static_cast<uint32_t>(owners_index);
  told.key = static_cast<uint32_t>(key);
  told.from = static_cast<uint32_t>(from);
  told.to = static_cast<uint32_t>(to);
  const Guard guard(demand->cache_lock);
  if (!demand->cache.grant(peer, static_cast<uint32_t>(asker_index), told)) {
    malformed_demand(peer, "a grant of a bucket");
  }
}

void on_refused(pinwire_token* token, int32_t asker_index) {
  const Rank peer = token->source;
  Demand* demand = demands[engine.routes[peer].driver_index];
  if (demand == nullptr) malformed_demand(peer, "the refusal of a bucket");
  const Guard guard(demand->cache_lock);
  if (!demand->cache.refuse(peer, static_cast<uint32_t>(asker_index))) {
    malformed_demand(peer, "the refusal of a bucket");
  }
}

}  // namespace

RemoteBucket known_bucket(Rank peer, uint64_t address) noexcept {
  Demand& demand = demand_for(peer);
  RemoteCache& cache = demand.cache;
  const Guard guard(demand.cache_lock);
  const uint64_t number = cache.number_of(peer, address);
  const uint32_t index = cache.take(peer, number);
  const uint64_t end = cache.end_of(peer, number);
  return index == kNoEntry ? RemoteBucket{kNoEntry, kNoRegion, end}
                           : read_entry(cache, index, address, end);
}

RemoteBucket known_or_wished(Rank peer, uint64_t address) noexcept {
  const RemoteBucket known = known_bucket(peer, address);
  if (known.key != kNoRegion) return known;
  Demand& demand = demand_for(peer);
  RemoteCache& cache = demand.cache;
  const uint64_t number = cache.number_of(peer, address);
  RemoteCache::Want want;
  {
    const Guard guard(demand.cache_lock);
    const uint32_t index = cache.take(peer, number);  // asked for, or known meanwhile
    if (index != kNoEntry) return read_entry(cache, index, address, cache.end_of(peer, number));
    want = cache.wish(peer, number);
  }
  if (want.index == kNoEntry || ask_owner(peer, number, want, Patience::kTries)) return known;
  bool is_forgotten = false;
  {
    const Guard guard(demand.cache_lock);
    is_forgotten = cache.forget(want.index);
  }
  if (!is_forgotten) ask_owner(peer, number, want);  // another thread waits for the answer
  return known;
}

RemoteBucket reach_bucket(Rank peer, uint64_t address) noexcept {
  Demand& demand = demand_for(peer);
  RemoteCache& cache = demand.cache;
  const uint64_t number = cache.number_of(peer, address);
  RemoteCache::Want want;
  RemoteBucket found;
  uint32_t index = kNoEntry;
  bool is_read = false;
  const auto read = [&]() noexcept {
    is_read = cache.at(index).state != RemoteCache::State::kAsked;
    if (is_read) found = read_entry(cache, index, address, cache.end_of(peer, number));
  };
  const auto is_in_hand = [&]() noexcept {
    const Guard guard(demand.cache_lock);
    index = cache.take(peer, number);
    if (index != kNoEntry) {
      read();
      return true;
    }
    want = cache.ask(peer, number);
    index = want.index;
    return index != kNoEntry;
  };
  if (!is_in_hand()) [[unlikely]]
    wait_until(is_in_hand);
  if (is_read) [[likely]]
    return found;
  if (want.index != kNoEntry) ask_owner(peer, number, want);
  wait_until([&]() noexcept {
    const Guard guard(demand.cache_lock);
    read();
    return is_read;
  });
  dcheck(found.end > address, "a bucket that ends before what it was asked for", found.end,
         address);
  return found;
}

void register_exchange() noexcept {
  register_internal(kHandlerBucketWanted, on_wanted);
  register_internal(kHandlerBucketGranted, on_granted);
  register_internal(kHandlerBucketRefused, on_refused);
}

}  // namespace pinwire

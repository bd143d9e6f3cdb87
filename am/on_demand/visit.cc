#include "am/on_demand/visit.h"

#include <atomic>

#include "am/handlers/handlers.h"
#include "am/handlers/own_memory.h"
#include "am/message/call.h"
#include "am/message/message.h"
#include "am/send/send.h"
#include "am/wait/wait.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "pin/demand.h"

namespace pinwire {
namespace {

/// The answer that an asker waits for; lives on its stack.
struct Answer {
  std::atomic<bool> is_there{false};
  Visit visit;
};

/// Own memory that is pinned for peers' transfers; a peer that gets no place here sends messages.
struct Host {
  static constexpr uint32_t kPlaces = 256;
  struct Place {
    Buckets::Alone pinned{};
    Rank peer = 0;
    uint32_t driver = 0;
  };

  PinLock lock;
  Place places[kPlaces];
  uint32_t free_from = 0;  // no free place lies before it

  /// kPlaces: none.
  uint32_t take(Rank peer) noexcept {
    const std::lock_guard guard(lock);
    while (free_from != kPlaces && places[free_from].peer != 0) ++free_from;
    if (free_from == kPlaces) return kPlaces;
    dcheck(places[free_from].pinned.region.bytes == 0, "a free place has pinned memory", free_from);
    places[free_from].peer = peer + 1;  // 0: free
    return free_from++;
  }
  void give(uint32_t place) noexcept {
    const std::lock_guard guard(lock);
    dcheck(place < kPlaces, "no place for a peer's transfer", place);
    dcheck(places[place].peer != 0, "a place is given back twice", place);
    places[place] = Place{};
    if (place < free_from) free_from = place;
  }
  bool is_of(uint32_t place, Rank peer) noexcept {
    const std::lock_guard guard(lock);
    return place < kPlaces && places[place].peer == peer + 1 &&
           places[place].pinned.region.bytes != 0;
  }
};
constinit Host host;

/// Pins what a peer asks for; a key of kNoRegion if that cannot be.
Visit pin_for(Rank peer, void* address, uint64_t bytes) noexcept {
  const uint32_t driver = engine.routes[peer].driver_index;
  if (demands[driver] == nullptr || bytes == 0) return {};
  const uint32_t at = host.take(peer);
  if (at == Host::kPlaces) return {};
  const Buckets::Alone pinned = demands[driver]->own.pin_alone(address, bytes);
  if (pinned.region.bytes == 0) {
    host.give(at);
    return {};
  }
  const std::lock_guard guard(host.lock);
  dcheck(host.places[at].peer == peer + 1, "another peer has the place", peer, at);
  dcheck(pinned.region.remote_key != kNoRegion, "pinned memory that no peer can name", peer);
  host.places[at].pinned = pinned;
  host.places[at].driver = driver;
  return {pinned.region.remote_key, at};
}

void on_visit(pinwire_token* token, int32_t answer_low, int32_t answer_high, int32_t address_low,
              int32_t address_high, int32_t bytes_low, int32_t bytes_high) {
  const uint64_t bytes = join_halves(bytes_low, bytes_high);
  void* address =
      own_memory(token->source, "transfer", join_halves(address_low, address_high), bytes);
  const Visit visit = pin_for(token->source, address, bytes);
  const int32_t args[] = {answer_low, answer_high, static_cast<int32_t>(visit.key),
                          static_cast<int32_t>(visit.place)};
  reply_short(*token, call_with(kHandlerVisitAnswer, args));
}

void on_answer(pinwire_token*, int32_t answer_low, int32_t answer_high, int32_t key,
               int32_t place) {
  auto* answer = reinterpret_cast<Answer*>(join_halves(answer_low, answer_high));
  answer->visit = {static_cast<uint32_t>(key), static_cast<uint32_t>(place)};
  answer->is_there.store(true, std::memory_order_release);  // pairs with begin_visit()
}

void on_visit_end(pinwire_token* token, int32_t place) {
  const auto at = static_cast<uint32_t>(place);
  if (!host.is_of(at, token->source)) {
    fatal("rank %u ended a transfer that it never began; run the same build on every rank",
          token->source);
  }
  const Host::Place was = host.places[at];
  demands[was.driver]->own.unpin_alone(was.pinned);
  host.give(at);
}

}  // namespace

Visit begin_visit(Rank peer, uint64_t address, uint64_t bytes) noexcept {
  dcheck(bytes != 0, "a visit to no memory", peer);
  Answer answer;
  const auto at = reinterpret_cast<uint64_t>(&answer);
  const int32_t args[] = {low_half(at),       high_half(at),   low_half(address),
                          high_half(address), low_half(bytes), high_half(bytes)};
  request_short(peer, call_with(kHandlerVisit, args));
  wait_until([&] { return answer.is_there.load(std::memory_order_acquire); });
  return answer.visit;
}

void end_visit(Rank peer, const Visit& visit) noexcept {
  dcheck(visit.key != kNoRegion, "a visit ends that never began", peer);
  const int32_t args[] = {static_cast<int32_t>(visit.place)};
  request_short(peer, call_with(kHandlerVisitEnd, args));
}

void register_visits() noexcept {
  register_internal(kHandlerVisit, on_visit);
  register_internal(kHandlerVisitAnswer, on_answer);
  register_internal(kHandlerVisitEnd, on_visit_end);
}

}  // namespace pinwire

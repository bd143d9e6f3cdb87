#include "extended/atomics/atomic.h"

#include <bit>
#include <cstring>

#include "am/handlers/dispatch.h"
#include "am/handlers/handlers.h"
#include "am/handlers/own_memory.h"
#include "am/message/message.h"
#include "am/message/tracked.h"
#include "am/send/post.h"
#include "am/send/send.h"
#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/engine/engine.h"

namespace pinwire {
namespace {

/// The cookie of the Op, or of a Tracked whose completion decrements `under_way` before it
/// completes the Op.
uint64_t counted_cookie(pinwire_op& op, std::atomic<uint32_t>* under_way) noexcept {
  if (under_way == nullptr) return cookie_of(op.done);
  Tracked* tracked = take_tracked();
  if (tracked == nullptr) return cookie_of(op.done);  // too many are under way to count them all
  tracked->cookie = cookie_of(op.done);
  tracked->counted = under_way;
  under_way->fetch_add(1, std::memory_order_relaxed);
  return cookie_of(*tracked);
}

// ---- By this CPU --------------------------------------------------------------------------------

/// The word's address in this process, if the segment is this process's or mapped here; else
/// nullptr. The headers ask the same for operations that the compiler knows.
void* word_here(Target to, const Route& route, void* address) noexcept {
  if (route.driver == nullptr) return address;
  struct pinwire_reach& reach = ::pinwire_reach[to];
  const uintptr_t bytes = std::atomic_ref(reach.mapped).load(std::memory_order_acquire);
  const auto word = reinterpret_cast<uintptr_t>(address);
  return word - reach.base < bytes ? reinterpret_cast<void*>(word + reach.delta) : nullptr;
}

// ---- By the driver ------------------------------------------------------------------------------

bool driver_has(const Route& route, const AtomicOperands& operands) noexcept {
  return (driver_atomics(route) & atomic_bit(operands.code)) != 0;
}

/// To the one NIC whose atomics that rank's memory sees, whatever way other work takes.
Route nic_route(Rank owner) noexcept {
  dcheck(engine.nic_atomic_keys != nullptr, "atomics of NICs that have none", owner);
  Route route;
  route.driver_index = static_cast<uint8_t>(engine.atomic_rail_of(owner));
  route.driver = engine.drivers[route.driver_index].driver;
  route.region_key = engine.nic_atomic_keys[owner];
  return route;
}

bool post_atomic(Target to, const Route& route, const void* address, const AtomicOperands& operands,
                 void* result, uint64_t cookie, Patience patience) noexcept {
  dcheck(route.driver != nullptr, "an atomic of this process itself by a driver", to);
  dcheck(reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) == 0, "an atomic on two words",
         address);
  Work work{};
  work.op = operands.code == AtomicCode::kCompareSwap ? Op::kCompareSwap : Op::kFetchOp;
  work.cls = MessageClass::kRequest;
  work.peer = rank_of(to);
  work.cookie = cookie;
  work.head = &operands;
  work.head_bytes = sizeof operands;
  work.local = result;
  work.bytes = sizeof(uint64_t);
  work.remote = reinterpret_cast<uint64_t>(address);
  work.remote_key = route.region_key;
  return post_from_client(route, work, patience);
}

// ---- By message ---------------------------------------------------------------------------------

/// Type and operation in one argument, by the numbers of their bits.
constexpr unsigned kCodeBits = 8;
int32_t packed(const AtomicCall& call) noexcept {
  dcheck(std::has_single_bit(call.type), "an atomic of two types, or none", call.type);
  dcheck(std::has_single_bit(call.code), "two atomics in one, or none", call.code);
  return __builtin_ctz(call.type) << kCodeBits | __builtin_ctz(call.code);
}

/// Checks the operation as it unpacks it: a message of a peer is not trusted.
AtomicCall unpacked(Rank source, int32_t kind, uint64_t a, uint64_t b) noexcept {
  const auto bits = static_cast<uint32_t>(kind);
  const gex_DT_t type = gex_DT_t{1} << (bits >> kCodeBits & 31);
  const gex_OP_t code = gex_OP_t{1} << (bits & 31);
  if (bits >> kCodeBits > 31 || (code & atomic_codes(type)) == 0) {
    fatal("rank %u asked for a remote atomic 0x%x, which is none; run the same build on every rank",
          source, bits);
  }
  return {type, code, a, b};
}

bool request_atomic(Rank to, const void* address, const AtomicCall& call, const void* result,
                    uint64_t cookie, Patience patience) noexcept {
  const auto at = reinterpret_cast<uint64_t>(address), into = reinterpret_cast<uint64_t>(result);
  const int32_t args[] = {packed(call),      low_half(at),     high_half(at),    low_half(cookie),
                          high_half(cookie), low_half(into),   high_half(into),  low_half(call.a),
                          high_half(call.a), low_half(call.b), high_half(call.b)};
  return request_short(to, {kHandlerAtomic, 11, args, 0, patience});
}

void on_atomic(pinwire_token* token, int32_t kind, int32_t at_low, int32_t at_high,
               int32_t cookie_low, int32_t cookie_high, int32_t into_low, int32_t into_high,
               int32_t a_low, int32_t a_high, int32_t b_low, int32_t b_high) {
  const AtomicCall call =
      unpacked(token->source, kind, join_halves(a_low, a_high), join_halves(b_low, b_high));
  const size_t bytes = atomic_bytes(call.type);
  const uint64_t address = join_halves(at_low, at_high);
  void* at = own_memory(token->source, "remote atomic", address, bytes);
  if (address % bytes != 0) {
    fatal("rank %u asked for a remote atomic at 0x%llx, which is not a multiple of %zu (GX-158)",
          token->source, static_cast<unsigned long long>(address), bytes);
  }
  const uint64_t old = apply(call, at);
  if (!atomic_fetches(call.code)) {
    const int32_t args[] = {cookie_low, cookie_high};
    reply_short(*token, {kHandlerAtomicDone, 2, args});
    return;
  }
  const int32_t args[] = {cookie_low,
                          cookie_high,
                          into_low,
                          into_high,
                          low_half(old),
                          high_half(old),
                          static_cast<int32_t>(bytes)};
  reply_short(*token, {kHandlerAtomicValue, 7, args});
}

void on_atomic_done(pinwire_token*, int32_t cookie_low, int32_t cookie_high) {
  DispatchSink{}.done(join_halves(cookie_low, cookie_high));
}

void on_value(pinwire_token* token, int32_t cookie_low, int32_t cookie_high, int32_t into_low,
              int32_t into_high, int32_t old_low, int32_t old_high, int32_t bytes) {
  const uint64_t old = join_halves(old_low, old_high);
  if (bytes != sizeof(uint32_t) && bytes != sizeof(uint64_t)) {
    fatal("rank %u answered a remote atomic with %d bytes", token->source, bytes);
  }
  // before the release in count_done(), which pairs with the acquire of the synchronising thread
  // (GX-162)
  std::memcpy(reinterpret_cast<void*>(join_halves(into_low, into_high)), &old,
              static_cast<size_t>(bytes));
  on_atomic_done(token, cookie_low, cookie_high);
}

}  // namespace

bool start_atomic(pinwire_ad& domain, Target to, void* address, const AtomicCall& call,
                  void* result, pinwire_op& op, Patience patience) noexcept {
  dcheck(rank_of(to) < engine.rank_count, "an atomic on a rank that the job has not", rank_of(to));
  if constexpr (kChecks) {
    dcheck((call.code & atomic_codes(call.type)) != 0, "no operation of the type", call.code,
           call.type);
    dcheck(atomic_fetches(call.code) == (result != nullptr), "a value and no place for it",
           call.code);
  }
  const Route& route = engine.routes[to];
  const bool by_nic = domain.way == AtomicWay::kNic;
  if (void* word = by_nic ? nullptr : word_here(to, route, address)) {
    const uint64_t old = apply(call, word);
    if (result != nullptr) std::memcpy(result, &old, atomic_bytes(call.type));
    return true;
  }
  const uint64_t cookie = counted_cookie(op, kUsageChecks ? &domain.under_way : nullptr);
  ++op.started;
  AtomicOperands operands;
  const bool has_form = as_driver_atomic(call, operands);
  dcheck(!by_nic || has_form, "a domain's operation is none of the NIC's", call.code, call.type);
  const bool is_started =
      by_nic ? post_atomic(to, nic_route(rank_of(to)), address, operands, result, cookie, patience)
      : has_form && driver_has(route, operands)
          ? post_atomic(to, route, address, operands, result, cookie, patience)
          : request_atomic(rank_of(to), address, call, result, cookie, patience);
  if (is_started) [[likely]]
    return true;
  dcheck(op.started != 0, "an atomic that nobody counted");
  --op.started;
  if ((cookie & kTrackedBit) != 0) finish_tracked(cookie);
  return false;
}

void register_atomic_handlers() noexcept {
  register_internal(kHandlerAtomic, on_atomic);
  register_internal(kHandlerAtomicDone, on_atomic_done);
  register_internal(kHandlerAtomicValue, on_value);
}

}  // namespace pinwire

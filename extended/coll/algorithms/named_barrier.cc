#include "extended/coll/algorithms/named_barrier.h"

#include <cstring>

#include "core/base/log.h"
#include "extended/coll/algorithms/reduce.h"
#include "extended/coll/member/member.h"
#include "extended/coll/operation/start.h"
#include "extended/rma/sync.h"

namespace pinwire {
namespace {

void merge(const void* a, const void* b, void* out, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) {
    uint64_t values[2];
    std::memcpy(&values[0], static_cast<const std::byte*>(a) + i * 8, 8);
    std::memcpy(&values[1], static_cast<const std::byte*>(b) + i * 8, 8);
    const uint64_t merged =
        BarrierValue::merge(BarrierValue::unpack(values[0]), BarrierValue::unpack(values[1]))
            .packed();
    std::memcpy(static_cast<std::byte*>(out) + i * 8, &merged, 8);
  }
}

NamedBarrier& notified(pinwire_tm& tm, const char* call) noexcept {
  NamedBarrier& barrier = tm.member->barrier;
  if (!barrier.is_notified) fatal("%s without a gasnet_coll_barrier_notify before it", call);
  return barrier;
}

BarrierResult end(NamedBarrier& barrier, BarrierArguments wait) noexcept {
  barrier.is_notified = false;
  const auto agreed = BarrierValue::unpack(barrier.value);
  const bool fits = barriers_of_ex ? names_what_is_agreed(barrier.said, wait, agreed)
                                   : repeats_notify(barrier.said, wait);
  return fits && agreed.kind != BarrierValue::kMismatch ? BarrierResult::kOk
                                                        : BarrierResult::kMismatch;
}

}  // namespace

void named_notify(pinwire_tm& tm, int id, int flags) noexcept {
  NamedBarrier& barrier = tm.member->barrier;
  if (barrier.is_notified) fatal("gasnet_coll_barrier_notify twice without a wait between");
  barrier = {true, {id, flags}, BarrierValue::of(id, flags).packed(), GEX_EVENT_INVALID};
  Collective& c = new_collective(&tm, reduce_to_all);
  c.reduction = {sizeof barrier.value, 1, merge, nullptr, nullptr, false};
  c.src = c.dst = &barrier.value;
  barrier.event = start_collective(c);
}

BarrierResult named_wait(pinwire_tm& tm, int id, int flags) noexcept {
  NamedBarrier& barrier = notified(tm, "gasnet_coll_barrier_wait");
  if (barrier.event != GEX_EVENT_INVALID) wait_op(barrier.event);
  return end(barrier, {id, flags});
}

BarrierResult named_try(pinwire_tm& tm, int id, int flags) noexcept {
  NamedBarrier& barrier = notified(tm, "gasnet_coll_barrier_try");
  if (barrier.event != GEX_EVENT_INVALID && !try_op(barrier.event)) return BarrierResult::kNotReady;
  barrier.event = GEX_EVENT_INVALID;
  return end(barrier, {id, flags});
}

}  // namespace pinwire

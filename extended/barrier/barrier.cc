#include "extended/barrier/barrier.h"

#include "am/poll/poll.h"
#include "core/base/breach.h"
#include "core/base/check.h"

namespace pinwire {

void NamedBarrier::notify(const char* calls, int id, int flags) noexcept {
  if (is_notified_) breach("C1-298", "%s_notify twice without a wait between (C1-265)", calls);
  is_notified_ = true;
  said_ = {id, flags};
  of_team.notify(BarrierValue::of(id, flags));
}

void NamedBarrier::check_notified(const char* calls, const char* call) const noexcept {
  if (!is_notified_)
    breach("C1-298", "%s_%s without a %s_notify before it (C1-267)", calls, call, calls);
}

BarrierResult NamedBarrier::finish(int id, int flags) noexcept {
  dcheck(is_notified_, "a barrier ends that was not notified", id);
  is_notified_ = false;
  const BarrierValue agreed = of_team.agreed();
  dcheck(agreed.kind != BarrierValue::kAnonymous ||
             BarrierValue::of(said_.id, said_.flags).kind == BarrierValue::kAnonymous,
         "a name was lost", said_.id);
  const bool fits = barriers_of_ex ? names_what_is_agreed(said_, {id, flags}, agreed)
                                   : repeats_notify(said_, {id, flags});
  return fits && agreed.kind != BarrierValue::kMismatch ? BarrierResult::kOk
                                                        : BarrierResult::kMismatch;
}

BarrierResult NamedBarrier::wait(const char* calls, int id, int flags) noexcept {
  check_notified(calls, "wait");
  of_team.await_agreed();
  return finish(id, flags);
}

BarrierResult NamedBarrier::try_once(const char* calls, int id, int flags) noexcept {
  check_notified(calls, "try");
  if (!of_team.is_agreed()) {
    poll();  // C1-272
    if (!of_team.is_agreed()) return BarrierResult::kNotReady;
  }
  return finish(id, flags);
}

bool NamedBarrier::name(int& id) const noexcept {
  const BarrierValue agreed = of_team.agreed();
  if (agreed.kind != BarrierValue::kNamed) return false;
  id = agreed.id;
  return true;
}

}  // namespace pinwire

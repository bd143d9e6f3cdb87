#include "extended/barrier/value.h"

#include "core/base/check.h"

namespace pinwire {
namespace {

constexpr int kFlagAnonymous = 1;
constexpr int kFlagMismatch = 2;

}  // namespace

BarrierValue BarrierValue::of(int id, int flags) noexcept {
  if (flags & kFlagMismatch) return {kMismatch, 0};
  if (flags & kFlagAnonymous) return {kAnonymous, 0};
  return {kNamed, id};
}

BarrierValue BarrierValue::merge(BarrierValue a, BarrierValue b) noexcept {
  dcheck(a.kind <= kMismatch, "no value of a barrier", a.kind);
  dcheck(b.kind <= kMismatch, "no value of a barrier", b.kind);
  if (a.kind == kMismatch || b.kind == kMismatch) return {kMismatch, 0};
  if (a.kind == kAnonymous) return b;
  if (b.kind == kAnonymous || a.id == b.id) return a;
  return {kMismatch, 0};
}

bool repeats_notify(BarrierArguments notify, BarrierArguments wait) noexcept {
  return wait.flags == notify.flags && (wait.flags != 0 || wait.id == notify.id);
}

bool names_what_is_agreed(BarrierArguments notify, BarrierArguments wait,
                          BarrierValue agreed) noexcept {
  const auto said = BarrierValue::of(notify.id, notify.flags);
  const auto all = BarrierValue::merge(agreed, BarrierValue::of(wait.id, wait.flags));
  return BarrierValue::merge(all, said).kind != BarrierValue::kMismatch;
}

}  // namespace pinwire

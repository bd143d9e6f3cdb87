#include "extended/coll/member/member.h"

#include "core/base/check.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

/// Handlers look a seat up without a lock. release where it is filled pairs with their acquire.
constinit std::atomic<Member*> members_by_seat[kSeatsMax] = {};

}  // namespace

Rank Member::jobrank_of(Rank member) const noexcept {
  dcheck(member < size, "the rank of no member", member, size);
  return rank_of(pinwire_target(tm, member));
}

Member* find_seat(uint32_t seat) noexcept {
  if (seat >= kSeatsMax) return nullptr;
  Member* member = members_by_seat[seat].load(std::memory_order_acquire);
  return member != nullptr && member->is_open.load(std::memory_order_acquire) ? member : nullptr;
}

void list_seat(Member& member) noexcept {
  check(member.seat < kSeatsMax, "a seat that messages cannot name", member.seat);
  check(members_by_seat[member.seat].load(std::memory_order_relaxed) == nullptr,
        "two members with one seat", member.seat);
  members_by_seat[member.seat].store(&member, std::memory_order_release);
}

}  // namespace pinwire

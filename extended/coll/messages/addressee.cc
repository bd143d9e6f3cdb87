#include "extended/coll/messages/addressee.h"

#include "core/base/log.h"

namespace pinwire {

void malformed(Rank source, const char* what) noexcept {
  fatal(
      "rank %u sent %s of a collective that makes no sense; run the same build on every rank, "
      "and call the same collectives in the same order on all members of a team (GX-141)",
      source, what);
}

Member& member_at(const pinwire_token& token, int32_t seat, const char* what) noexcept {
  Member* member = find_seat(static_cast<uint32_t>(seat));
  if (member == nullptr) malformed(token.source, what);
  return *member;
}

uint64_t number_at(const Member& member, int32_t low) noexcept {
  // A member works at operations of two windows at most, from the first that is not finished on.
  // acquire pairs with the release in finish()
  return whole_number(static_cast<uint32_t>(low), member.finished.load(std::memory_order_acquire));
}

Collective& live_at(const pinwire_token& token, Member& member, int32_t number,
                    const char* what) noexcept {
  const uint64_t at = number_at(member, number);
  Collective* c = member.live[at % kWindowOps].load(std::memory_order_acquire);
  if (c == nullptr || c->number != at) malformed(token.source, what);
  return *c;
}

}  // namespace pinwire

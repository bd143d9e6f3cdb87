#include "extended/coll/addressee.h"

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

Collective& live_at(const pinwire_token& token, Member& member, int32_t number,
                    const char* what) noexcept {
  const auto at = static_cast<uint32_t>(number);
  Collective* c = member.live[at % kWindowOps].load(std::memory_order_acquire);
  if (c == nullptr || static_cast<uint32_t>(c->number) != at) malformed(token.source, what);
  return *c;
}

}  // namespace pinwire

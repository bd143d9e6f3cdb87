// Finds the member and the operation that a message of collectives is for, in its handler. A
// message that names none is fatal: its sender runs another build, or called another collective
// (GX-141).
#pragma once

#include "am/message/token.h"
#include "extended/coll/operation/collective.h"

namespace pinwire {

[[noreturn, gnu::cold]] void malformed(Rank source, const char* what) noexcept;

Member& member_at(const pinwire_token& token, int32_t seat, const char* what) noexcept;
/// Returns the whole number of the operation that a message names by its lower half: one that this
/// member is at, or comes to. A message for a finished operation was read before.
uint64_t number_at(const Member& member, int32_t low) noexcept;
/// An operation that this member is at.
Collective& live_at(const pinwire_token& token, Member& member, int32_t number,
                    const char* what) noexcept;

}  // namespace pinwire

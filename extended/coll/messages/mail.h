// Messages between the members of a team, for an operation: small data comes with them, larger data
// is offered, and pulled by its receiver once that is there: by a get where it can, else by pieces
// that the offerer's handler sends. Client context, in an operation's script.
#pragma once

#include "extended/coll/operation/collective.h"

namespace pinwire {

/// `from` may not change until all_taken(). `letter`: which of the receiver's boxes.
void send_data(Collective& c, Rank to, uint32_t letter, const void* from, size_t bytes) noexcept;
/// No data.
void send_signal(Collective& c, Rank to, uint32_t letter) noexcept;
/// The round of an epoch's barrier.
void send_epoch(const Member& member, Rank to, uint32_t round) noexcept;

bool has_arrived(Collective& c, uint32_t letter) noexcept;
/// True once the letter's data is in place; to be called until then. Fatal if the sender sends
/// other than `bytes`: it was called with other arguments than this member.
bool receive_data(Collective& c, Rank from, uint32_t letter, void* to, size_t bytes) noexcept;
/// The same without a copy of data that came with its message: that stays there, the receiver's
/// own, until the operation is finished. Other data is brought to `to`. Returns where the data is,
/// nullptr: not yet.
std::byte* take_data(Collective& c, Rank from, uint32_t letter, void* to, size_t bytes) noexcept;
/// Offers data, as send_data() does if it is large. `send`: the sender's name for it.
void send_offer(Collective& c, Rank to, uint32_t letter, size_t bytes, const void* from,
                uint32_t send) noexcept;
/// The offer that has arrived; nullptr: none yet.
const LetterBox* find_offer(Collective& c, Rank from, uint32_t letter, size_t bytes) noexcept;
/// Where a get brings all of an offer at once, into any memory, without asking for anything else.
bool can_get(Rank from, const LetterBox& box, const void* to) noexcept;
/// All that was offered is pulled.
bool all_taken(const Collective& c) noexcept;

void register_mail() noexcept;

}  // namespace pinwire

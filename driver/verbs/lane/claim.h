// How much of what all work of a lane shares (buffers, completions, tickets) each kind of work
// leaves to the others, so that no circle of ranks waits for itself (C1-154):
//
// - A request ends when its target's poll has given it a buffer. It leaves a quarter to the rest.
// - One-sided work ends without the target's CPU, but behind the replies on its connection, which
//   wait where a target that computes has no buffer left for them. It leaves an eighth to replies.
// - A reply, and what a handler puts ahead of its reply, may take all. It ends as its target drains
//   replies, which it does whenever it polls, also while it waits inside a handler.
//
// A handler therefore waits only until replies and one-sided work have ended, and those never wait
// until a handler has run.
#pragma once

#include "driver/work.h"

namespace pinwire::verbs {

enum class Claim : uint8_t { kReply, kOneSided, kRequest };

constexpr bool has_message(const Work& work) noexcept {
  return work.op == Op::kSend || work.op == Op::kPutSend;
}

constexpr Claim claim_of(const Work& work) noexcept {
  if (work.cls == MessageClass::kReply) return Claim::kReply;
  return has_message(work) ? Claim::kRequest : Claim::kOneSided;
}

/// One-sided work goes by the replies' connection: no busy receiver of requests holds it up. With
/// iWARP none does, as its messages always find a buffer; but there the completion of a put says
/// only that it has left (RFC 5040, 5.5), so it goes ahead of the messages that follow it, on
/// theirs.
constexpr MessageClass link_of(Claim claim, bool is_iwarp) noexcept {
  const bool is_ahead = is_iwarp && claim == Claim::kOneSided;
  return claim == Claim::kRequest || is_ahead ? MessageClass::kRequest : MessageClass::kReply;
}

/// How many of `capacity` entries stay free when such work has taken all it may.
constexpr uint32_t left_by(Claim claim, uint32_t capacity) noexcept {
  return capacity / 8 * static_cast<uint32_t>(claim);
}

}  // namespace pinwire::verbs

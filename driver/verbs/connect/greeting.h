// The datagrams by which two ranks make their connections of one lane, and close them.
//
// A rank that wants to send says hello, again and again until it is answered; each greeting brings
// the sender's ends of the connections, so the first one that comes lets the receiver make its own.
//   kHello   "these are my ends; tell me yours"     is answered by kAnswer
//   kAnswer  "these are mine, connected to yours"   is answered by kReady
//   kReady   "mine are connected, too"              is not answered
// Who has got an answer or a ready knows that the other end listens, and may send. All may be lost,
// come twice or cross: the ends of a pair never change while its connections live, so a repetition
// says nothing new. Connections that were closed are made anew under the next epoch. The other
// kinds are disconnect.h's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/hash.h"
#include "driver/verbs/peer/address.h"
#include "driver/verbs/peer/disconnect.h"
#include "driver/work.h"

namespace pinwire::verbs {

struct Greeting {
  enum class Kind : uint8_t { kHello, kAnswer, kReady, kAsk, kWithdraw, kAgree, kRefuse };
  Kind kind = Kind::kHello;
  Rank from = 0;
  Rank to = 0;
  uint32_t lane = 0;
  Ends ends;           ///< of the first three kinds
  uint64_t epoch = 0;  ///< closings of the pair's connections before
  uint64_t round = 0;  ///< of the other kinds, as the next
  Traffic traffic;
};

constexpr bool is_about_closing(Greeting::Kind kind) noexcept {
  return kind > Greeting::Kind::kReady;
}
DisconnectMessage disconnect_message(const Greeting& greeting) noexcept;
/// Between the same ranks.
void set_disconnect_message(Greeting& greeting, const DisconnectMessage& message) noexcept;

inline constexpr size_t kGreetingBytes = 56;
using GreetingBytes = std::array<std::byte, kGreetingBytes>;

/// That of the datagrams of a job. The upper half of the keys is the kernel's (IBA 10.2.5).
inline uint32_t datagram_key(uint64_t job_key) noexcept {
  return hash_fold(job_key) & 0x7fff'ffffu;
}
/// Under the job's key, which no stranger has.
GreetingBytes encode(const Greeting& greeting, uint64_t job_key) noexcept;
/// Nothing unless it was made with the same key, and no byte of it changed.
std::optional<Greeting> decode(std::span<const std::byte> bytes, uint64_t job_key) noexcept;

}  // namespace pinwire::verbs

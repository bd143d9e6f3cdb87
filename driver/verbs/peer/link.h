// One lane's connections to one peer, and the credit for requests between the two.
//
// A request takes a buffer of the receiver's, which gives it back when the handler has run. The
// sender lets at most `window` requests be under way; the receiver tells how many it gave back by
// writing a count straight into the sender's memory now and then: no message, no buffer. Where many
// senders exhaust a receiver all the same, the device itself makes them wait (RNR). Replies and
// one-sided work have a connection of their own, which no busy receiver holds up: it drains replies
// whenever it polls, also while it waits inside a handler (C1-154).
#pragma once

#include <atomic>
#include <memory>

#include "core/base/check.h"
#include "driver/verbs/peer/address.h"
#include "driver/verbs/peer/pooled.h"
#include "driver/verbs/peer/queue_pair.h"
#include "driver/work.h"

namespace pinwire::verbs {

struct Link {
  QueuePair queue;
  /// Requests that the send queue still takes; none before is_open, less than that while a message
  /// waits for the data ahead of it (lane_fence.cc).
  int32_t room = 0;
  uint32_t unsignalled = 0;  ///< since the last that will complete
};

/// The hand that a peer's connections are in. The connector makes them, and from kUnmet to kMet
/// they are its own; from kMet to kHeld the lane's, which alone holds what it has; from kHeld on
/// the connector's again, which closes them or gives them back.
enum class Stage : uint8_t {
  kUnmet,  ///< not made, or the other end may not listen yet
  kMet,    ///< the other end listens
  kHeld,   ///< the lane posts nothing, and all that it posted has completed
};

/// How far the exchange of greetings got, or of an ask to close; the connector's alone.
struct Meeting {
  Ends theirs;
  bool has_theirs = false;  ///< and the own ends are connected to them
  bool is_wanted = false;   ///< this rank has something to send, and was not told that it can
  uint32_t repeats = 0;     ///< of the hello, or the ask
  uint64_t since_us = 0;
  uint64_t next_us = 0;
};

/// A rank that this one met, by greeting or being greeted. Made by the connector; used by the lane,
/// but for what is marked otherwise.
struct Peer {
  Link links[kLinksPerPeer];  ///< by MessageClass; one-sided work goes by the replies'
  uint64_t requests_sent = 0;
  const uint64_t* taken = nullptr;  ///< how many the peer has given back; written by its device
  uint64_t given_back = 0;          ///< of its requests
  uint64_t reported = 0;            ///< the part of them that it knows of
  uint64_t credit_address = 0;      ///< where to report, in its memory
  uint32_t credit_key = 0;
  Rank rank = 0;
  bool is_open = false;     ///< the links have their room
  bool is_invited = false;  ///< the connector was told that this rank wants to send; until is_open
  Meeting meeting;
  Ends mine;                       ///< constant, while there are links
  Peer* next = nullptr;            ///< of the lane's; constant
  std::unique_ptr<Pooled> pooled;  ///< under a bound, but for this rank itself; constant
  /// Release by the connector pairs with acquire by the lane that opens it: what the connector
  /// wrote of the peer is there. Release by the lane that holds it pairs with the connector's
  /// acquire.
  std::atomic<Stage> stage{Stage::kUnmet};

  bool has_credit(uint32_t window) const noexcept {
    // Pairs with nothing: the count alone is read, and only the number of messages depends on it.
    dcheck(taken != nullptr, "a peer that has no word for its credit", rank);
    const uint64_t back = std::atomic_ref<const uint64_t>(*taken).load(std::memory_order_relaxed);
    return requests_sent - back < window;
  }
};

}  // namespace pinwire::verbs

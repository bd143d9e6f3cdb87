// One end of the agreement by which two ranks close an idle connection, to be made anew by the next
// greetings (greeting.h). This is the protocol alone, as
// tests/models/worlds/verbs_disconnect_test.cc explores it; connector_pool.cc and lane_pool.cc use
// it. Messages travel as datagrams, which may be lost, come twice, late, or cross.
//   kAsk       "nothing of mine is under way: may we close?"   is answered by kAgree or kRefuse
//   kWithdraw  "I want to send after all"                      is answered by kAgree or kRefuse
//   kAgree     "the connection of this epoch is closed here"   is not answered
//   kRefuse    "it stays: this ask is void"                    is not answered
// An end that has asked posts nothing until it is answered, and repeats its message until then.
//
// No message is lost, doubled or reordered. An end asks, or agrees, only while it is quiet: all
// that it posted has completed, and its client holds none of the peer's buffers; credit that was
// not reported stays owed to the next connection. The asker's counts travel with the ask, and the
// other end agrees only if both directions match its own: so at that moment all that either end
// ever sent has been received, and neither sends more, the asker because it waits for the answer,
// the other end because it has closed. Later messages go by a new connection, of the next epoch. A
// refused round stays refused, whatever comes late or twice: otherwise the asker could send after
// the refusal, and a second copy of its ask be agreed to before what it sent arrives. For the same
// reason an answer counts only for the round that it names.
//
// Nobody waits for ever. The lane answers an ask when it polls, whatever it waits for itself: two
// asks that cross find two silent ends, and each may be agreed to. A withdrawal is answered at once
// and needs no lane: an end that computes for an hour has it refused by its connector, unless its
// lane has agreed before. A greeting that crosses an ask is of the same epoch, and changes nothing.
// A lost message is repeated by the end that waits; if the answer was lost, an ask of a closed
// epoch is agreed to again. A peer that has agreed may greet before its agreement arrives: its
// greeting is of the next epoch, and says the same. A greeting of an earlier epoch is a late copy,
// and makes nothing.
//
// A closed connection is not taken for a dead peer: each end destroys its queue pairs when it has
// agreed or been agreed with, with nothing under way at either end, so no request is left that
// could fail. Neither end listens to the device for signs of life; a peer that dies before it
// answers is noticed by the launcher, and given up after GASNET_CONNECT_TIMEOUT, like one that
// answers no greeting.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "core/base/check.h"

namespace pinwire::verbs {

/// Messages of one connection that an end has sent, and taken from its receive queues.
struct Traffic {
  uint64_t sent = 0;
  uint64_t received = 0;
  auto operator<=>(const Traffic&) const = default;
};

struct DisconnectMessage {
  enum class Kind : uint8_t { kAsk, kWithdraw, kAgree, kRefuse };
  Kind kind = Kind::kAsk;
  uint64_t epoch = 0;
  uint64_t round = 0;  ///< of the asker's, in this epoch
  Traffic traffic;     ///< of the asker; of kAsk alone
  auto operator<=>(const DisconnectMessage&) const = default;
};

/// Not thread-safe: the caller serialises, and looks at is_quiet() and calls hear() in one step.
class Disconnect {
 public:
  using Message = DisconnectMessage;
  using Kind = Message::Kind;
  /// The answer of hear() to the caller, and to the peer.
  struct Heard {
    bool is_closed = false;  ///< destroy the queue pairs; greetings are of the next epoch now
    std::optional<Message> answer;
  };
  enum class Epoch : uint8_t { kStale, kCurrent, kAhead };

  uint64_t epoch() const noexcept { return epoch_; }
  /// The end posts nothing.
  bool has_asked() const noexcept { return has_asked_; }

  /// The caller is quiet, and has met the peer.
  Message ask(const Traffic& mine) noexcept {
    check(!has_asked_, "a connection is asked to close twice");
    has_asked_ = true;
    is_withdrawn_ = false;
    asked_at_ = mine;
    ++round_;
    return question();
  }
  /// The client wants to send: the answer is needed soon, and may come from a busy peer.
  void withdraw() noexcept { is_withdrawn_ = has_asked_; }
  bool is_withdrawn() const noexcept { return is_withdrawn_; }
  /// An end that has asked repeats this until it is answered.
  Message question() const noexcept {
    check(has_asked_, "an end repeats what it has not asked", epoch_, round_);
    return is_withdrawn_ ? Message{Kind::kWithdraw, epoch_, round_, {}}
                         : Message{Kind::kAsk, epoch_, round_, asked_at_};
  }

  Heard hear(const Message& message, bool is_quiet, const Traffic& mine) noexcept {
    const bool is_question = message.kind == Kind::kAsk || message.kind == Kind::kWithdraw;
    if (message.epoch < epoch_ && is_question) return {false, answer(Kind::kAgree, message)};
    if (message.epoch != epoch_) return {};
    if (is_question) return hear_question(message, is_quiet, mine);
    // Answers to an earlier round are void: this end has sent since.
    if (!has_asked_ || message.round != round_) return {};
    if (message.kind == Kind::kAgree) {
      close();
      return {true, {}};
    }
    has_asked_ = is_withdrawn_ = false;
    return {};
  }

  /// A greeting has arrived. kAhead: the peer has agreed, and the agreement is late; is_closed was
  /// not told yet, and holds from now on.
  Epoch greeted(uint64_t epoch) noexcept {
    if (epoch == epoch_) return Epoch::kCurrent;
    if (epoch != epoch_ + 1 || !has_asked_) return Epoch::kStale;
    close();
    return Epoch::kAhead;
  }

  auto operator<=>(const Disconnect&) const = default;

 private:
  static Message answer(Kind kind, const Message& to) noexcept {
    return {kind, to.epoch, to.round, {}};
  }
  Heard hear_question(const Message& message, bool is_quiet, const Traffic& mine) noexcept {
    const Traffic& theirs = message.traffic;
    const bool is_all_there = theirs.sent == mine.received && theirs.received == mine.sent;
    if (message.kind == Kind::kAsk && message.round > refused_ && is_quiet && is_all_there) {
      close();
      return {true, answer(Kind::kAgree, message)};
    }
    if (message.round > refused_) refused_ = message.round;
    return {false, answer(Kind::kRefuse, message)};
  }
  void close() noexcept {
    ++epoch_;
    round_ = refused_ = 0;
    asked_at_ = {};
    has_asked_ = is_withdrawn_ = false;
  }

  uint64_t epoch_ = 0;    // closings of this pair so far
  uint64_t round_ = 0;    // of the own asks, in this epoch
  uint64_t refused_ = 0;  // the peer's rounds up to this one
  bool has_asked_ = false;
  bool is_withdrawn_ = false;
  Traffic asked_at_;
};

}  // namespace pinwire::verbs

// The exactly-once ledger: every message that a client posted, and what became of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/work.h"
#include "tests/sim/oracle/fence_order.h"
#include "tests/sim/oracle/verdict.h"

namespace pinwire::sim {

/// The part of another rank's memory that a put writes.
struct PutRange {
  uint64_t offset;
  uint64_t bytes;  ///< 0: no put
  uint64_t content;
};

struct Message {
  Rank from, to;
  MessageClass cls;
  uint8_t head_bytes;
  uint64_t bytes;    ///< payload
  uint64_t content;  ///< pattern of head and payload
  bool wants_reply;
  uint64_t answers;  ///< the request's number, or kNone
  PutRange put;      ///< of a kPutSend, which the target must see no later than the message
  uint64_t put_id;
  uint32_t lane = 0;
  bool plain = false;     ///< a kSend, which fences put in order
  bool fenced = false;    ///< comes after the plain ones before it
  uint64_t deadline = 0;  ///< its number there
  uint64_t place = 0;     ///< among the plain ones of its stream
  bool posted = false;
  uint32_t deliveries = 0;

  static constexpr uint64_t kNone = ~uint64_t{0};
};

class Ledger {
 public:
  explicit Ledger(Verdict& verdict) : verdict_(verdict) {}

  /// Enters a message that is about to be posted; returns its number.
  uint64_t enter(const Message& message);
  /// The driver accepted it: from now on it must arrive, once.
  void posted(uint64_t number);
  /// The words that the sender's head must contain.
  void write_head(uint64_t number, std::span<std::byte> head) const;

  /// A rank got a message: the number of the one that it is, or kNone if it is none that it may be.
  uint64_t arrived(Rank rank, const Recv& recv);
  /// The bytes are still what was sent (a buffer must stay untouched until it is given back).
  void check_bytes(uint64_t number, const Recv& recv);

  const Message& operator[](uint64_t number) const { return messages_[number]; }
  uint64_t undelivered() const noexcept { return undelivered_; }
  uint64_t delivered() const noexcept { return delivered_; }
  /// Fails the run if a message is missing.
  void check_final();

 private:
  bool order_kept(uint64_t number);

  Verdict& verdict_;
  FenceOrder fences_;
  std::vector<Message> messages_;
  uint64_t undelivered_ = 0;
  uint64_t delivered_ = 0;
};

}  // namespace pinwire::sim

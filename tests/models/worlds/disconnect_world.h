// Two ranks of the verbs driver and the one connection between them, as one value: how they meet,
// send, close the connection (driver/verbs/peer/disconnect.h, the production class) and meet again.
// Datagrams that were sent once may arrive at any time, as often as they like, or be lost. A
// request costs a credit, which comes back when the client gives its buffer back; a reply costs
// none. A device that has delivered a message is done with it before the receiver has looked. A put
// ends without the receiver.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "driver/verbs/peer/disconnect.h"

namespace pinwire::model {

struct DisconnectPlan {
  uint8_t requests[2] = {};  ///< that each rank wants to send
  uint8_t puts[2] = {};      ///< likewise
  uint8_t asks[2] = {};      ///< how often each rank may ask to close
  bool replies = false;      ///< each request is replied to
  bool loses = false;        ///< datagrams; otherwise they may only be late
  bool computes = false;     ///< rank 1 never polls: only its device and its connector work
};

class DisconnectWorld {
 public:
  explicit DisconnectWorld(const DisconnectPlan& plan);

  /// Every world that is one step from this one.
  std::vector<DisconnectWorld> next() const;
  /// Everything was sent, and nobody waits for an answer; it was handled where the client polls.
  bool is_over() const;
  /// Empty unless a message was lost.
  const std::string& failure() const { return failure_; }
  bool both_ask() const { return ends_[0].protocol.has_asked() && ends_[1].protocol.has_asked(); }
  uint64_t epoch() const { return ends_[0].protocol.epoch(); }
  auto operator<=>(const DisconnectWorld&) const = default;

 private:
  enum class Greet : uint8_t { kNone, kHello, kAnswer, kReady };
  struct Datagram {
    uint8_t to = 0;
    Greet greet = Greet::kNone;  ///< kNone: `message` is meant
    verbs::DisconnectMessage message;
    auto operator<=>(const Datagram&) const = default;
  };
  using ByClass = std::array<uint8_t, 3>;  ///< requests, replies, puts
  struct End {
    verbs::Disconnect protocol;
    verbs::Traffic traffic;
    ByClass under_way{};  ///< sent, and not delivered yet
    ByClass arrived{};    ///< delivered, and not looked at yet
    uint8_t requests = 0, puts = 0, asks = 0;
    uint8_t owed = 0;        ///< credits
    uint8_t held = 0;        ///< requests whose handlers have not ended
    bool is_joined = false;  ///< listens
    bool is_met = false;     ///< may send
    auto operator<=>(const End&) const = default;
  };

  bool is_quiet(const End& end) const;
  void say(uint32_t to, Greet greet, const verbs::DisconnectMessage& message);
  void greet(uint32_t to, Greet greet, uint64_t epoch) {
    say(to, greet, {.epoch = epoch, .traffic = {}});
  }
  void close(uint32_t rank);
  void fail(const char* what) { failure_ = what; }
  bool can_send(uint32_t rank);
  bool try_request(uint32_t rank);
  bool try_put(uint32_t rank);
  bool try_device(uint32_t rank, uint32_t cls);
  bool try_look(uint32_t rank, uint32_t cls);
  bool try_handle(uint32_t rank);
  bool try_ask(uint32_t rank);
  bool try_repeat(uint32_t rank);
  bool try_step(uint32_t rank, uint32_t kind);
  void receive(const Datagram& datagram);
  void receive_greeting(uint32_t rank, const Datagram& datagram);

  std::array<End, 2> ends_;
  std::vector<Datagram> datagrams_;  // sorted: all that were ever sent
  std::string failure_;
  bool replies_, loses_, computes_;
};

}  // namespace pinwire::model

// The connections, pools and credits of a few lanes of the verbs driver, as one value: the deadlock
// argument of driver/verbs/lane/claim.h, small enough to explore whole. A rank has two connections
// to each other one, whose work stays in order: one for requests, and one for replies and puts.
// Work that is posted holds a buffer of its sender's until the device has carried it out; a message
// needs a receive buffer of its class at the target, a put nothing. Devices work while their ranks
// compute. A request's receive buffer, and its sender's credit, come back when its handler has
// replied.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace pinwire::model {

inline constexpr uint32_t kVerbsRanksMax = 4;

/// A point of the argument that is taken away, to see that the exploration misses it.
enum class VerbsMutant : uint8_t {
  kNone,
  kRequestsTakeAll,    ///< requests leave no buffer to replies
  kRepliesAmongThem,   ///< replies go by the requests' connection
  kPutsAmongThem,      ///< so do puts
  kHandlersDoNotPoll,  ///< a handler that waits for room takes no replies
  kNoWindow,           ///< as many requests may be under way as there are
  kCount
};

struct VerbsPlan {
  uint32_t ranks = 2;
  uint32_t buffers = 3;   ///< of a rank, for what it sends
  uint32_t receives = 2;  ///< of a rank, for requests
  uint32_t reply_receives = 2;
  uint32_t window = 2;         ///< requests under way to one peer
  uint8_t requests = 0;        ///< of each poster to each other rank
  uint8_t puts = 0;            ///< likewise
  bool ring = false;           ///< only to the next rank
  uint8_t posters = 0xff;      ///< bit r: rank r has work
  uint8_t silent = 0;          ///< bit r: rank r computes for ever: only its device works
  uint8_t deaf = 0;            ///< bit r: rank r polls, but its client takes no requests
  uint8_t sent_by_silent = 0;  ///< requests of each silent rank to each other one
  VerbsMutant mutant = VerbsMutant::kNone;
};

class VerbsWorld {
 public:
  explicit VerbsWorld(const VerbsPlan& plan);

  /// Every world that is one step from this one.
  std::vector<VerbsWorld> next() const;
  /// Nothing that must come is still to come. Messages for a silent rank, and requests
  /// for a deaf one, need not.
  bool is_over() const;
  std::string text() const;
  auto operator<=>(const VerbsWorld& other) const { return ranks_ <=> other.ranks_; }

 private:
  enum class Cargo : uint8_t { kRequest, kPut, kReply };
  /// In order; two bits for each.
  struct Connection {
    uint16_t cargos = 0;
    uint8_t length = 0;
    void push(Cargo cargo);
    Cargo first() const { return static_cast<Cargo>(cargos & 3); }
    void pop();
    auto operator<=>(const Connection&) const = default;
  };
  using Counts = std::array<uint8_t, kVerbsRanksMax>;
  struct RankState {
    Counts requests{}, puts{};  ///< by peer: not posted yet
    std::array<Connection, kVerbsRanksMax> by_requests{}, by_replies{};
    Counts under_way{};   ///< by peer: requests that were not replied to
    Counts arrived{};     ///< by peer: requests in receive buffers
    uint8_t replies = 0;  ///< in receive buffers
    uint8_t handler = 0;  ///< whose request it runs, plus 1
    auto operator<=>(const RankState&) const = default;
  };

  bool is(VerbsMutant mutant) const { return plan_->mutant == mutant; }
  bool silent(uint32_t rank) const { return plan_->silent >> rank & 1; }
  bool deaf(uint32_t rank) const { return plan_->deaf >> rank & 1; }
  bool must_come(Cargo cargo, uint32_t from, uint32_t to) const;
  uint32_t free_buffers(uint32_t rank) const;
  bool send(uint32_t rank, uint32_t peer, Cargo cargo, uint32_t left);
  bool try_request(uint32_t rank, uint32_t peer);
  bool try_put(uint32_t rank, uint32_t peer);
  bool try_device(uint32_t rank, uint32_t peer, Connection& connection);
  bool try_handle(uint32_t rank, uint32_t peer);
  bool try_reply(uint32_t rank);
  bool try_take_reply(uint32_t rank);
  bool try_step(uint32_t rank, uint32_t kind, uint32_t peer);

  const VerbsPlan* plan_;
  std::array<RankState, kVerbsRanksMax> ranks_{};
};

}  // namespace pinwire::model

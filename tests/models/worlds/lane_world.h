// The pools, flows and classes of a few nicfw lanes, as one value: the deadlock argument at the
// head of nicfw/lane/lane.h, small enough to explore whole. A frame that a rank has built occupies
// a send slot of that rank until the peer accepts it. A frame that is not accepted changes nothing,
// so loss and repetition need no step of their own; an acknowledgement needs no room, so acceptance
// and acknowledgement are one step. Credits are advice with a probe behind them and are left out:
// they delay a frame, and never for ever.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace pinwire::model {

inline constexpr uint32_t kLaneRanksMax = 4;

/// The contents of a frame. Requests, puts, gets and fenced requests are work of a client; replies
/// and data are owed. A fenced request waits for all requests of its sender.
enum class Cargo : uint8_t { kRequest, kPut, kGet, kFenced, kReply, kData, kCount };
inline constexpr uint32_t kCargos = static_cast<uint32_t>(Cargo::kCount);
inline constexpr uint32_t kClientCargos = 4;

/// A point of the argument that is taken away, to see that the exploration misses it.
enum class LaneMutant : uint8_t {
  kNone,
  kPutsAsMessages,          ///< point 1: a put is accepted only where a request would be
  kDataAsMessages,          ///< point 2: so is the data of a get
  kGetsAsMessages,          ///< point 6: so is a get
  kRequestsHoldAll,         ///< point 3: requests may hold the last receive buffers
  kHandlersDoNotPoll,       ///< point 3: a handler that waits for a send slot does not take replies
  kRepliesHaveNoSlots,      ///< point 4: the send slots have no part for the reply flow
  kNoShares,                ///< point 7: one peer may hold all send slots
  kNoFirstSlot,             ///< point 7: no slot is kept for a flow that has nothing under way
  kFirstSlotBehindReplies,  ///< point 7: a flow's own slot is behind the reserve of the replies
  kNoFirstResponse,         ///< point 7: no response is kept for a peer that is owed nothing
  kParkedHoldAll,           ///< point 5: messages that wait for others may hold all buffers
  kCount
};

struct LanePlan {
  uint32_t ranks = 2;
  uint32_t slots = 3;          ///< send slots of a rank
  uint32_t slots_replies = 1;  ///< of those, for the reply flow alone
  uint32_t slots_idle = 0;     ///< of those, one for each flow of each peer
  uint32_t buffers = 2;        ///< receive buffers of a rank
  uint32_t request_hold_max = 1;
  uint32_t responses = 1;                     ///< of gets that a rank may owe at once
  uint32_t responses_idle = 0;                ///< beside those: one for each peer
  std::array<uint8_t, kClientCargos> work{};  ///< of each poster for each other rank
  bool ring = false;                          ///< only for the next rank
  uint8_t posters = 0xff;                     ///< bit r: rank r has work
  uint8_t silent = 0;  ///< bit r: rank r computes for ever: it accepts and posts nothing
  /// Messages that each silent rank sent to each other rank before it fell silent.
  std::array<uint8_t, kClientCargos> sent_by_silent{};
  uint8_t deaf = 0;  ///< bit r: rank r drives its lane, but its client takes no requests
  LaneMutant mutant = LaneMutant::kNone;
};

class LaneWorld {
 public:
  explicit LaneWorld(const LanePlan& plan);

  /// Every world that is one step from this one.
  std::vector<LaneWorld> next() const;
  /// Nothing that must come is still to come. Work that waits for a silent rank, and messages for a
  /// deaf one, need not.
  bool is_over() const;
  std::string text() const;
  auto operator<=>(const LaneWorld& other) const { return ranks_ <=> other.ranks_; }

 private:
  using Counts = std::array<uint8_t, kLaneRanksMax>;
  struct RankState {
    std::array<Counts, kClientCargos> todo{};  ///< by peer: not posted yet
    std::array<Counts, kCargos> built{};       ///< by peer: in send slots
    Counts held_requests{};                    ///< by peer: in receive buffers
    Counts parked{};                           ///< by peer: fenced requests that wait
    Counts owed{};                             ///< by peer: data of gets
    uint8_t held_replies = 0;
    uint8_t handler = 0;  ///< whose request it runs, plus 1
    auto operator<=>(const RankState&) const = default;
  };

  bool is(LaneMutant mutant) const { return plan_->mutant == mutant; }
  bool silent(uint32_t rank) const { return plan_->silent >> rank & 1; }
  bool deaf(uint32_t rank) const { return plan_->deaf >> rank & 1; }
  bool must_come(Cargo cargo, uint32_t from, uint32_t to) const;
  bool may_build(uint32_t rank, uint32_t peer, Cargo cargo) const;
  bool may_accept(uint32_t rank, uint32_t peer, Cargo cargo) const;
  uint32_t in_flow(uint32_t rank, uint32_t peer, Cargo cargo) const;
  bool is_early(uint32_t rank, uint32_t peer) const;
  bool try_post(uint32_t rank, uint32_t peer, Cargo cargo);
  bool try_accept(uint32_t rank, uint32_t peer, Cargo cargo);
  bool try_handle(uint32_t rank, uint32_t peer);
  bool try_reply(uint32_t rank);
  bool try_answer_get(uint32_t rank, uint32_t peer);
  bool try_take_reply(uint32_t rank);
  bool try_step(uint32_t rank, uint32_t kind, uint32_t peer);

  const LanePlan* plan_;
  std::array<RankState, kLaneRanksMax> ranks_{};
};

}  // namespace pinwire::model

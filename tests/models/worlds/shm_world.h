// The rings of a few ranks of one host, as one value: the deadlock argument of driver/shm/shm.h,
// with the replies that lanes owe (am/poll/owed.h), small enough to explore whole. Each lane of a
// rank has a ring for requests and one for replies, which all its peers fill; the places in them
// are computed by the functions of driver/shm/ring.h. A request stays in its ring until its handler
// has returned, and a handler that waits for room polls nothing but the replies of its own lane.
// All threads of a rank but one compute for ever, so one thread serves all of its lanes: with more
// threads there is more that can be done, and never less.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace pinwire::model {

inline constexpr uint32_t kShmRanksMax = 4;
inline constexpr uint32_t kShmLanesMax = 2;
inline constexpr uint32_t kShmSlotsMax = 8;

/// A point of the argument that is taken away, to see that the exploration misses it.
enum class ShmMutant : uint8_t {
  kNone,
  kOneRing,              ///< point 1: replies go by the requests' ring, and are taken in its order
  kHandlersDoNotPoll,    ///< point 2: a handler that waits for room takes no replies
  kPutsAsMessages,       ///< point 3: a put is a request
  kWaitsForLent,         ///< point 4: a message waits for a lent buffer
  kMoreThanHalf,         ///< point 5: a message may take more than half of the room
  kDryIsNotTold,         ///< point 5: a consumer whose ring has run dry does not publish head
  kOwesNothing,          ///< point 6: a handler waits until its reply is in the ring
  kHandlersDoNotSettle,  ///< point 7: a handler that waits does not send what its lane owes
  kOvertakes,            ///< point 7: a reply goes ahead of those that are owed to its peer
  kCount
};

struct ShmPlan {
  uint32_t ranks = 2;
  uint32_t lanes = 1;
  uint32_t slots = 2;     ///< of each ring; a power of two
  uint32_t rarely = 1;    ///< slots or lines that a consumer frees before it publishes head
  uint32_t owed_max = 0;  ///< replies that a lane may owe
  uint32_t lent = 0;      ///< buffers of each rank's outbox; 0: payloads are copied
  uint32_t request_bytes = 8;
  std::array<uint32_t, 3> reply_bytes{8, 8, 8};  ///< of the messages of replies, in turn
  uint8_t pieces = 1;          ///< messages of each reply: a Long by messages has several
  uint8_t requests = 0;        ///< of each lane of each poster to each other rank
  uint8_t puts = 0;            ///< of each poster to each other rank
  bool ring = false;           ///< only to the next rank
  bool crossed = false;        ///< rank 0 sends on lane 1 alone, the others on lane 0 alone
  uint8_t posters = 0xff;      ///< bit r: rank r has work
  uint8_t silent = 0;          ///< bit r: rank r computes for ever
  uint8_t deaf = 0;            ///< bit r: rank r polls, but its client takes no requests
  uint8_t sent_by_silent = 0;  ///< requests of each silent rank to each other one
  ShmMutant mutant = ShmMutant::kNone;
};

class ShmWorld {
 public:
  explicit ShmWorld(const ShmPlan& plan);

  /// Every world that is one step from this one.
  std::vector<ShmWorld> next() const;
  /// Nothing that must come is still to come, and replies came in their order. Messages for a
  /// silent rank, and requests for a deaf one, need not come.
  bool is_over() const;
  std::string text() const;
  auto operator<=>(const ShmWorld& other) const { return ranks_ <=> other.ranks_; }

 private:
  enum class Cargo : uint8_t { kRequest, kPut, kReply };
  struct Message {
    uint8_t from = 0;
    Cargo cargo = Cargo::kRequest;
    uint8_t number = 0;  ///< of a reply, among those of its sender's lane to this rank
    bool is_lent = false;
    auto operator<=>(const Message&) const = default;
  };
  /// As Extent, but small.
  struct Place {
    uint8_t slots = 0, lines = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Ring {
    std::array<Message, kShmSlotsMax> messages{};  ///< from `freed` to `tail`, the oldest first
    Place tail, freed, published;
    uint32_t length() const { return static_cast<uint8_t>(tail.slots - freed.slots); }
    auto operator<=>(const Ring&) const = default;
  };
  using Counts = std::array<uint8_t, kShmRanksMax>;
  struct LaneState {
    std::array<Ring, 2> rings{};  ///< by class
    Counts requests{};            ///< by peer: not posted yet
    Counts owed{};                ///< by peer: replies, the last of `numbered`
    Counts numbered{};            ///< by peer: replies that handlers have sent
    Counts taken{};               ///< by peer: replies that have come from it
    auto operator<=>(const LaneState&) const = default;
  };
  struct RankState {
    std::array<LaneState, kShmLanesMax> lanes{};
    Counts puts{};           ///< by peer: not posted yet
    uint8_t handler = 0;     ///< the lane whose oldest request's handler runs, plus 1
    uint8_t pieces = 0;      ///< that the handler has yet to send
    uint8_t lent = 0;        ///< buffers that are out
    bool is_broken = false;  ///< a reply has overtaken another
    auto operator<=>(const RankState&) const = default;
  };

  bool is(ShmMutant mutant) const { return plan_->mutant == mutant; }
  bool silent(uint32_t rank) const { return plan_->silent >> rank & 1; }
  bool deaf(uint32_t rank) const { return plan_->deaf >> rank & 1; }
  bool must_come(const Message& message, uint32_t to) const;
  bool may_poll(uint32_t rank, uint32_t lane) const;
  uint32_t bytes_of(const Message& message) const;
  Ring& ring_of(uint32_t rank, uint32_t lane, Cargo cargo);
  bool push(uint32_t rank, uint32_t lane, uint32_t peer, Message message);
  void free_oldest(Ring& ring);
  void end_piece(uint32_t rank);
  bool try_request(uint32_t rank, uint32_t lane, uint32_t peer);
  bool try_put(uint32_t rank, uint32_t peer);
  bool try_handle(uint32_t rank, uint32_t lane);
  bool try_reply(uint32_t rank);
  bool try_owe(uint32_t rank);
  bool try_take(uint32_t rank, uint32_t lane);
  bool try_settle(uint32_t rank, uint32_t lane, uint32_t peer);
  bool try_step(uint32_t rank, uint32_t lane, uint32_t kind, uint32_t peer);

  const ShmPlan* plan_;
  std::array<RankState, kShmRanksMax> ranks_{};
};

}  // namespace pinwire::model

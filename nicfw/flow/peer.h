// The state that a lane keeps of one peer. Small, so that a job of many ranks costs little: what
// grows with the work in flight (slots, windows, operations) lives in pools of the lane (slots.h).
#pragma once

#include <cstdint>

#include "nicfw/flow/congestion.h"
#include "nicfw/flow/receive_flow.h"
#include "nicfw/flow/replay_window.h"
#include "nicfw/flow/rto.h"
#include "nicfw/flow/turns.h"
#include "nicfw/pool/index_pool.h"
#include "nicfw/wire/wire.h"

namespace pinwire {

/// The sender's side of one flow. Sequences run [una, unsent) in flight, [unsent, next) built.
struct SendFlow {
  uint32_t una = 0;               ///< the oldest that is not acknowledged
  uint32_t unsent = 0;            ///< the first that the port has not taken
  uint32_t next = 0;              ///< the next to build
  Index window = kNoIndex;        ///< SendWindow; none while nothing is built
  Index copied_turns = kNoIndex;  ///< CopiedTurns; none while no copied put was refused lately
  uint16_t sacked : 10 = 0;       ///< of [una, unsent): acknowledged ahead of una
  uint16_t backoff : 5 = 0;  ///< since an acknowledgement told how long the peer takes, saturating
  uint16_t is_answered : 1 = 0;  ///< after a timeout: at reorder_at_ns what is left counts as lost
  uint16_t lost : 12 = 0;        ///< of [una, unsent): to be sent again
  uint16_t small_waits : 4 = 0;  ///< polls for which long puts leave a frame to a refused record
  uint16_t buffers : 12 = 0;     ///< large buffers that its frames hold
  uint16_t timeouts : 3 = 0;     ///< in a row, saturating
  uint16_t operations = 0;       ///< whole: each operation changes it twice
 uint16_t slots : 10 = 0;        ///< of the lane's pools, like `buffers`
  uint16_t short_lead : 5 = 0;   ///< of `ops` (turns.h)
  uint16_t open : 1 = 0;         ///< frame next - 1 still collects records
  uint16_t post_lead : 12 = 0;   ///< of post() over the operations that wait, in kFrameParts
  uint16_t is_denied : 1 = 0;    ///< the windows, or post(), had no frame for a waiting operation
  TwoQueues ops;                 ///< Ops of which some bytes are not built into frames yet
  uint64_t rto_at_ns = 0;        ///< 0: off
  uint64_t reorder_at_ns = 0;    ///< when frames overtaken by others count as lost; 0: off

  uint32_t in_flight() const noexcept { return next - una - sacked; }
  /// Sent, and neither acknowledged nor known to be lost.
  uint32_t on_wire() const noexcept {
    dcheck(unsent - una >= uint32_t{sacked} + lost, "more frames are lost than were sent", una,
           unsent, lost);
    return unsent - una - sacked - lost;
  }
};
static_assert(sizeof(SendFlow) == 48);
static_assert(kWindowFramesMax < 1u << 10, "a flow counts its frames in ten bits");

/// Half a line of the cache is as far as alignment goes: a whole one would break the promise below.
struct alignas(32) Peer {
  SendFlow send[kFlows];
  ReceiveFlow receive[kFlows];
  RttEstimate rtt;
  std::byte encapsulation[kEncapsulationBytes + 2];  ///< for a frame without a length
  CongestionWindow congestion;
  uint64_t arrived_ns = 0;          ///< not before this the peer's last frame arrived
  uint64_t pace_at_ns = 0;          ///< when a window below one frame allows the next
  uint64_t silent_since_ns = 0;     ///< on the lane's watch: last heard, or began to wait if later
  ReplayWindow arrived;             ///< numbers of the peer's frames
  uint64_t frames_numbered = 0;     ///< to the peer, repeated ones too
  uint64_t credit_probe_at_ns = 0;  ///< when a sender without credit asks for some; 0: unset
  uint64_t credit_used_ns = 0;      ///< when credit was last used or got
  uint64_t request_came_ns = 0;     ///< the last of the peer's request frames
  uint64_t probe_at_ns = 0;         ///< when the next pair of probes may go, or the last is judged
  TwoQueues responses;              ///< what this rank owes the peer
  uint32_t requests_built = 0;      ///< frames with request messages, ever
  uint32_t request_limit = 0;       ///< how many the peer will hold
  uint32_t requests_accepted = 0;   ///< of the peer's
  uint32_t requests_held = 0;       ///< of those, not given back by the client
  uint32_t advertised = 0;          ///< the last credit sent
  uint32_t ack_since_poll = 0;      ///< the poll in which the oldest unacknowledged frame arrived
  uint32_t short_lost_us = 0;      ///< when a frame was last lost that every path carries; 0: never
  uint32_t presence_at_us = 0;     ///< when a copied put that waits may ask if the peer is there
  uint16_t unacked_frames = 0;     ///< arrived, and not acknowledged by any frame yet
  uint16_t active_flows = 0;       ///< with a window
  uint16_t responses_owed = 0;     ///< of the lane's pool
  uint8_t presence_asks = 0;       ///< in a row, without an answer
  uint8_t timeouts_unheard = 0;    ///< since the peer was last heard, saturating
  uint16_t frame_bytes_max = 0;    ///< the smaller of the two ports'
  uint16_t path_bytes = 0;         ///< longer frames go in pieces
  uint16_t probed_bytes = 0;       ///< the peer's longest probe that is not answered; 0: none
  uint16_t first_credit = 1;       ///< that the peer gives to a rank that is not sending
  uint8_t credit_asks = 0;         ///< in a row
  uint8_t half_answered = 0;       ///< pairs of which the short probe alone was answered
  uint8_t congested_pairs = 0;     ///< likewise, while short frames were lost
  uint8_t unanswered = 0;          ///< pairs of probes since the last answer, saturating
  bool is_probing : 1 = false;     ///< a pair of probes is under way
  bool in_probe_ring : 1 = false;  ///< in the lane's ring of paths that are probed
  bool small_answered : 1 = false;  ///< the short probe of this pair
  bool pair_refused : 1 = false;    ///< by the port, in part: it tells nothing
  bool has_hole : 1 = false;        ///< the path was found to be narrow
  bool asks_credit = false;         ///< the next acknowledgement asks for one
  bool is_sender = false;           ///< in the lane's ring of senders
  bool is_hungry = false;           ///< in the lane's ring of senders without credit
  bool ack_now = false;
  bool queued = false;  ///< in the lane's attention ring
  bool connected : 1 = false;
  bool dead : 1 = false;
  bool is_gone : 1 = false;  ///< dead, but not yet given up
  bool heard : 1 = false;    ///< ever
  bool refusal_sent : 1 = false;
  bool loses_short : 1 = false;  ///< frames that every path carries were lost more than once
  bool owes_answer : 1 = false;  ///< an acknowledgement that tells the newest frame: it was asked
  uint8_t responses_short_lead : 5 = 0;  ///< of `responses` (turns.h)
  uint8_t asked_flows = 0;  ///< bit f: of flow f a frame is late, and the peer was asked for it
  uint8_t first_flow = 0;   ///< whose turn is the first of the next poll
  uint8_t refused = 0;      ///< flows (room_flag()) of which frames were refused: the peer is to be
                            ///< told when there is room
  uint8_t room_again = 0;   ///< flows of which the next acknowledgement tells that there is room
  uint32_t asked_number = 0;  ///< of the first frame after the last timeout
  uint32_t asked_at_ns = 0;   ///< low bits of when that was

  /// Is something queued for the frames of the flow?
  bool has_waiting(Flow flow) const noexcept {
    return !send[static_cast<size_t>(flow)].ops.empty() ||
           (flow == Flow::kReply && !responses.empty());
  }
};
static_assert(
    sizeof(Peer) <= 480,
    "the state of an idle peer, with its places in the lane's rings, is a promise (512 bytes)");

static_assert(sizeof(Peer::encapsulation) >= kEncapsulationBytes);

inline uint32_t frames_in_flight(const Peer& peer) noexcept {
  return peer.send[0].in_flight() + peer.send[1].in_flight() + peer.send[2].in_flight();
}
inline uint32_t frames_on_wire(const Peer& peer) noexcept {
  return peer.send[0].on_wire() + peer.send[1].on_wire() + peer.send[2].on_wire();
}
static_assert(kFlows == 3);

/// May frames to the peer be longer than what the path is known to carry?
constexpr bool is_narrow(const Peer& peer) noexcept {
  return peer.path_bytes != peer.frame_bytes_max;
}

}  // namespace pinwire

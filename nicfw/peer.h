// What a lane remembers of one peer. Small, so that a job of many ranks costs little: what grows
// with the work in flight (slots, windows, operations) lives in pools of the lane (slots.h).
#pragma once

#include <cstdint>

#include "nicfw/congestion.h"
#include "nicfw/index_pool.h"
#include "nicfw/receive_flow.h"
#include "nicfw/rto.h"
#include "nicfw/wire.h"

namespace pinwire {

/// The sender's side of one flow. Sequences run [una, unsent) in flight, [unsent, next) built.
struct SendFlow {
  uint32_t una = 0;            ///< the oldest that is not acknowledged
  uint32_t unsent = 0;         ///< the first that the port has not taken
  uint32_t next = 0;           ///< the next to build
  Index window = kNoIndex;     ///< SendWindow; none while nothing is built
  uint16_t sacked = 0;         ///< of [una, unsent): acknowledged ahead of una
  uint16_t lost = 0;           ///< of [una, unsent): to be sent again
  uint8_t timeouts = 0;        ///< in a row
  bool open = false;           ///< frame next - 1 still collects records
  IndexList ops;               ///< Ops of which some bytes are not built into frames yet
  uint64_t rto_at_ns = 0;      ///< 0: off
  uint64_t reorder_at_ns = 0;  ///< when frames overtaken by others count as lost; 0: off

  uint32_t in_flight() const noexcept { return next - una - sacked; }
};
static_assert(sizeof(SendFlow) == 40);

struct alignas(64) Peer {
  SendFlow send[kFlows];
  ReceiveFlow receive[kFlows];
  RttEstimate rtt;
  std::byte encapsulation[kEncapsulationBytes + 2];  ///< for a frame without a length
  CongestionWindow congestion;
  uint64_t last_heard_ns = 0;
  uint64_t waiting_since_ns = 0;    ///< since when something has been in flight without a pause
  uint64_t credit_probe_at_ns = 0;  ///< when a sender without credit may try one frame; 0: unset
  IndexList responses;              ///< what this rank owes the peer
  uint32_t requests_built = 0;      ///< frames with request messages, ever
  uint32_t request_limit = 0;       ///< how many the peer will hold
  uint32_t requests_accepted = 0;   ///< of the peer's
  uint32_t requests_released = 0;   ///< of those, given back by the client
  uint32_t advertised = 0;          ///< the last credit sent
  uint32_t ack_since_poll = 0;      ///< the poll in which the oldest unacknowledged frame arrived
  uint16_t unacked_frames = 0;      ///< arrived, and not acknowledged by any frame yet
  uint16_t active_flows = 0;        ///< with a window
  uint16_t frame_bytes_max = 0;     ///< the smaller of the two ports'
  uint16_t fragment_bytes = 0;      ///< of a put or get that one frame carries
  bool ack_now = false;
  bool queued = false;  ///< in the lane's attention ring
  bool connected = false;
  bool dead = false;
  bool refusal_sent = false;
  bool refused_messages = false;   ///< frames of the peer were not accepted, and it should be
  bool refused_responses = false;  ///< told when there is room
  bool room_again = false;
};
static_assert(sizeof(Peer) <= 512, "the state of an idle peer is a promise (512 bytes)");

}  // namespace pinwire

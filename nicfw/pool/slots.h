// The pooled state of a lane: frames and operations in flight, responses owed, frames held for the
// client. Pools are filled at open(); an empty pool is back-pressure.
#pragma once

#include <cstdint>

#include "driver/work.h"
#include "nicfw/pool/index_pool.h"
#include "nicfw/port/port.h"
#include "nicfw/wire/wire.h"

namespace pinwire {

inline constexpr uint32_t kSmallFrameBytes =
    256;  ///< each slot's own; a larger head takes a buffer

inline constexpr uint8_t kSendsMax = 0xfe;

constexpr Flow flow_of(const Work& work) noexcept {
  if (work.op != Op::kSend && work.op != Op::kPutSend) return Flow::kOneSided;
  return work.cls == MessageClass::kReply ? Flow::kReply : Flow::kRequest;
}

/// A frame that is built and not acknowledged.
struct alignas(64) SendSlot {
  std::byte* head = nullptr;        ///< the frame: headers, records, copied payload
  const std::byte* body = nullptr;  ///< payload sent from where it lies, after `head`
  uint64_t sent_ns = 0;             ///< when last sent; before that, when built
  RecordHashes hashes;              ///< valid when sealed_sends > 0
  uint32_t body_key = 0;
  uint16_t body_bytes = 0;
  uint16_t head_bytes = 0;
  /// End of the last record's payload that is the frame's body on the wire (wire.h): where it lies,
  /// `body` or the end of `head`, does not matter. 0: there is none.
  uint16_t payload_bytes = 0;
  Index buffer = kNoIndex;    ///< large buffer that `head` points to
  Index ops = kNoIndex;       ///< Ops that lie whole in this frame, chained by Operation::link
  Index fragment = kNoIndex;  ///< the Op of which this frame carries a part
  uint8_t sends = 0;          ///< times that the port took it; many: kSendsMax, or one less
  uint8_t sealed_sends = 0;   ///< `sends` after the send for which it was sealed; 0: never
  uint8_t asks = 0;           ///< records that want a response
  uint8_t pieces_taken = 0;   ///< by the port, of a frame in pieces, in this sending
  uint8_t first_piece = 0;    ///< with which this sending began
  Flow flow = Flow::kRequest;
  bool wants_ack : 1 = false;  ///< somebody waits for the acknowledgement itself
  bool has_message : 1 = false;
  /// It may change before the acknowledgement: a get's source, a silent put's.
  bool volatile_body : 1 = false;
  bool was_posted : 1 = false;    ///< last sent by post(), whose time is that of the poll before it
  bool is_restamped : 1 = false;  ///< first sent up to a poll's distance before `sent_ns`

  uint32_t frame_bytes() const noexcept { return head_bytes + body_bytes; }
};
static_assert(sizeof(SendSlot) == 64);

/// The slots of one flow that has frames in flight, by sequence.
struct SendWindow {
  Index slot[kWindowFramesMax];  ///< kNoIndex: acknowledged
  uint64_t lost[kWindowFramesMax / 64];
  Rank peer;
  Flow flow;
  uint32_t active_at;    ///< where in the lane's list of active windows
  uint64_t deferred_ns;  ///< 1 + what find_lost() is to be told at the end of the poll; 0: nothing
};

enum class OpState : uint8_t { kFree, kActive, kDone };

/// An accepted Work that has a Done to give, or bytes still to be sent.
struct alignas(64) Operation {
  Work work;
  uint64_t built = 0;           ///< put: bytes in frames so far
  uint64_t remaining = 0;       ///< get: bytes that have not arrived
  uint32_t first_sequence = 0;  ///< put-send: of the first fragment
  uint32_t frames = 0;          ///< put: frames in flight
  uint32_t generation = 0;
  Index link = kNoIndex;
  OpState state = OpState::kFree;
  WorkStatus status = WorkStatus::kOk;
  bool started = false;
  bool all_built = false;   ///< put: every frame is in a window
  bool is_awaited = false;  ///< get, atomic: a response ends it
  std::byte head[kHeadBytesMax];
};
static_assert(sizeof(Operation) == 256);

/// A debt to a peer: bytes of a get, the old value of an atomic, a refusal. Goes in the reply flow.
struct Response {
  Record record;  ///< type, op, key, address, length, operand, compare
  uint64_t built = 0;
  Index link = kNoIndex;
};

/// A received frame whose messages the client has not all given back.
struct HeldFrame {
  RxFrame frame{};
  uint32_t cursor = 0;  ///< the next record to hand out
  uint32_t end = 0;
  Rank peer = 0;
  uint32_t sequence = 0;
  uint32_t before = 0;  ///< frames that must arrive first
  uint16_t references = 0;
  Index link = kNoIndex;
  MessageClass cls = MessageClass::kRequest;
};

}  // namespace pinwire

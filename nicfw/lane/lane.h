// One lane of nicfw: its own flows to every peer over one queue of the port. Single-threaded.
//
// Reliability. Each pair of ranks has three flows, each with sequences of its own: requests,
// replies, one-sided requests. A frame is accepted whole, at once, in whatever order it comes, and
// exactly once; acceptance is what an acknowledgement says. A frame that is not accepted is as good
// as lost: its sender repeats it. A rank that lacks room (for a message to hold, for a response to
// owe) therefore just does not accept.
//
// Why this cannot deadlock, with the smallest pools and any load (C1-154).
// tests/models/worlds/lane_test.cc explores all points, and finds the deadlock that each of them
// prevents; replies that are left to a lane (point 7) tests/models/worlds/shm_lane_test.cc
// explores:
//  1. Puts need no room at the target, and acknowledgements none either: they are always accepted.
//  2. Responses (data of gets, results of atomics, refusals) need no room at the initiator: their
//     place was reserved when the operation was posted. They travel in the reply flow, and are
//     accepted whatever else is full.
//  3. Replies need a receive buffer until the client has run their handlers. Requests may never
//     hold the last buffers (request_hold_max), reply handlers block on nothing, and a waiting
//     client polls with kRepliesOnly at least: so replies are given back, and the next accepted.
//  4. Hence the reply flow always drains as long as the peer polls. Send slots, buffers and windows
//     have a part that only the reply flow may use, so it always fills, too.
//  5. A message that waits for frames before it holds a buffer meanwhile, and those frames may
//     carry messages: at most half of the buffers of its kind are held so, the others drain by 3.
//  6. Requests, gets and atomics wait for room that the client (messages) or the reply flow
//     (responses) gives back; by 4 the latter comes without any handler. One-sided requests have a
//     flow of their own, so a peer that takes no more messages still serves puts, gets and atomics.
//  7. A peer that does not poll accepts nothing and so keeps what its flows hold of the pools, for
//     as long as it likes. Each flow has items of its own that no other flow can take, and a
//     bounded share of the rest (pool_share.h): a frame of its own in a slot and, if it is large,
//     in a buffer, an operation, and for each peer the responses of a frame. A frame to a peer that
//     polls is acknowledged, and its own items are back. A silent peer therefore stops nobody but
//     those who wait for it, however many there are. A copied put of several frames needs them at
//     once: some items are kept for such puts to peers that were heard lately.
//     A long put, a get or an atomic for which the windows have no frame is taken nevertheless.
//     It waits in its flow, where it holds nothing but an operation, until a poll builds it. That
//     needs what a new offer of its client would need, so no point here depends on it. post()
//     refuses what must be copied into a frame at once (messages, copied puts, lists of pieces),
//     and beyond a share of operations the rest, to that peer alone.
//     A reply beyond its peer's share is refused. Its handler must not wait for such a peer, nor
//     the messages behind it: the room above keeps the reply, and offers it later (am/poll/owed.h).
// Credit (how many more request frames a sender may send) is backed by buffers, so that next to
// nothing is sent in vain (request_credit.h); none of the above rests on it. A sender without
// credit gets some in turn when buffers are given back. When that was lost, the sender asks; and
// after many questions one frame goes without credit.
//
// Files: lane.cc the calls of the driver; lane_accept.cc, lane_ask.cc, lane_long.cc,
// lane_respond.cc work and what is owed into frames; lane_scatter.cc puts of many pieces, whole;
// lane_frame.cc frames under construction; lane_credit.cc requests; lane_send.cc, lane_seal.cc
// frames to the port, tx_backlog.h when, turns.h in which order; lane_piece.cc frames longer than
// the path; lane_ack.cc, lane_loss.cc acknowledgements, loss, timers; lane_silence.cc peers that
// are gone; lane_receive.cc, lane_body.cc, lane_execute.cc frames from the port.
//
// These parts of a lane are classes of their own: the operations, from Work to Done (operations.h);
// the responses that this rank owes (responses.h); the messages that the client has or will get
// (held_messages.h); the frames that pieces make (assemblies.h); the credit that this rank gives
// for requests (request_credit.h); what the paths to peers carry (path_probe.h); and which peers
// are there (liveness.h).
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "core/base/memory/zeroed_array.h"
#include "core/base/random.h"
#include "driver/driver.h"
#include "driver/failure_note.h"
#include "nicfw/flow/copied_turns.h"
#include "nicfw/flow/load.h"
#include "nicfw/flow/peer.h"
#include "nicfw/flow/tx_backlog.h"
#include "nicfw/lane/counters.h"
#include "nicfw/memory/regions.h"
#include "nicfw/operation/operations.h"
#include "nicfw/operation/responses.h"
#include "nicfw/peer/liveness.h"
#include "nicfw/peer/path_probe.h"
#include "nicfw/pool/pool_share.h"
#include "nicfw/pool/rank_ring.h"
#include "nicfw/pool/slots.h"
#include "nicfw/port/clock.h"
#include "nicfw/port/config.h"
#include "nicfw/port/port.h"
#include "nicfw/receive/assemblies.h"
#include "nicfw/receive/held_messages.h"
#include "nicfw/receive/request_credit.h"
#include "nicfw/wire/piece.h"

namespace pinwire {

/// Memory for large frames, attached to the port, so that a payload that was written there leaves
/// from there.
struct FrameMemory {
  ZeroedArray<std::byte> bytes;
  uint32_t stride = 0;
  uint32_t port_key = 0;
};

/// Shared by the lanes of one NIC.
struct NicShared {
  Port& port;
  Clock& clock;
  NicConfig config;
  PortFacts facts{};
  OpenInfo info{};
  Regions regions{};
  Endpoint self{};
  FailureNote failure{};
  FrameMemory frames{};                   ///< the lanes' large buffers
  std::atomic<bool> told_of_hole{false};  ///< relaxed: whoever sets it speaks, and nobody else
};

/// Payloads up to this are copied into the frame even if they may stay: cheaper than a second part.
inline constexpr uint32_t kCopyBytes = 256;

/// Flows that may have a gap at once.
inline constexpr uint32_t kGapsMax = 1024;

/// A pure acknowledgement: a header and, of each flow, what came ahead.
inline constexpr uint32_t kAckFrameBytes = 320;
static_assert(kRecordsOffset + kSackBytes <= kAckFrameBytes);

/// The records of a probe; also sent in place of a get's source that is no longer mapped. As many
/// as frame_bytes_max can say.
inline constexpr std::byte kZeroBytes[UINT16_MAX] = {};

/// Payload of a put that one frame carries. A multiple of 16, so that aligned puts stay aligned.
constexpr uint32_t put_fragment_bytes(uint32_t frame_bytes_max) noexcept {
  return (frame_bytes_max - kRecordsOffset - record_fields(RecordType::kPut)) & ~15u;
}
/// Payload of a put or get that one frame carries over the path to a peer, without pieces.
constexpr uint32_t fragment_bytes(const Peer& peer) noexcept {
  return put_fragment_bytes(peer.path_bytes);
}
/// The longest list of pieces that one frame carries.
constexpr uint32_t scatter_list_bytes(uint32_t frame_bytes_max) noexcept {
  return (frame_bytes_max - kRecordsOffset - record_fields(RecordType::kScatter)) & ~7u;
}
/// The largest payload of a put-send that one frame carries, message and all.
constexpr uint32_t copied_frame_bytes(uint32_t frame_bytes_max) noexcept {
  return put_fragment_bytes(frame_bytes_max) - record_stride(kMessageHeaderBytes, kHeadBytesMax);
}
/// The part of a window for which there are large buffers.
constexpr uint32_t copied_window(uint32_t window_frames) noexcept {
  return std::min(window_frames, 2 * CopiedTurns::kFramesMax);
}
/// Frames of the largest copied put.
constexpr uint32_t copied_frames(uint32_t window_frames) noexcept {
  return copied_window(window_frames) / 2;
}
/// Frames that a copied put may take, its message's included: it is built at once, or not at all.
constexpr uint64_t copied_put_frames(uint64_t bytes, uint32_t fragment) noexcept {
  return bytes / fragment + 2;
}
/// The largest put whose frames are at most half of that.
constexpr uint64_t copied_put_bytes(uint32_t window_frames, uint32_t fragment) noexcept {
  return uint64_t{copied_frames(window_frames) - 1} * fragment - 1;
}
static_assert(copied_put_frames(copied_put_bytes(4, 512), 512) == 4 / 2 &&
              copied_put_frames(copied_put_bytes(4, 512) + 1, 512) > 4 / 2);

constexpr PoolReserve buffer_reserve(uint32_t window_frames, uint32_t ranks) noexcept {
  return {.holders = kFlows * std::min(ranks, kIdleBufferHoldersMax),
          .replies = copied_window(window_frames) / 4,
          .whole = copied_frames(window_frames)};
}
/// Large buffers of a lane: a window's, and those that are kept for somebody.
constexpr uint32_t frame_buffers(uint32_t window_frames, uint32_t ranks) noexcept {
  return copied_window(window_frames) + buffer_reserve(window_frames, ranks).items();
}

class Lane final : private PathProbe::Host {
 public:
  Lane(NicShared& nic, uint32_t index);

  void connect(Rank rank, const Endpoint& endpoint) noexcept;
  uint32_t post(std::span<const Work> work) noexcept;
  Lent lend() noexcept;
  void take_back(const Lent& lent) noexcept;
  uint32_t done(std::span<Done> out) noexcept;
  uint32_t recv(RecvFilter filter, std::span<Recv> out) noexcept;
  void give_back(std::span<const Recv> buffers) noexcept;
  bool idle() const noexcept { return idle_.load(std::memory_order_relaxed); }
  bool has_arrivals() const noexcept { return ops_.has_done() || messages_.has_arrivals(); }
  /// No timer runs, nothing waits to be sent, acknowledged or handed out.
  bool quiet() const noexcept { return active_count_ == 0 && nothing_waits(); }
  Armed arm() noexcept;
  void close() noexcept;
  const Counters& counters() const noexcept { return counters_; }
  uint32_t op_high_water() const noexcept { return ops_.used_high_water(); }
  uint32_t slot_high_water() const noexcept { return slots_.used_high_water(); }

 private:
  static constexpr uint32_t kBurst = 32;
  static_assert(kBurst <= HeldMessages::kReleasesMax, "a burst goes back to the port at once");
  /// While fewer frames than this are in flight in a flow, a message goes out at once and alone;
  /// but what a client that streams posts between two polls joins one frame as soon as any is in
  /// flight.
  static constexpr uint32_t kCoalesceBehind = 4;
  static constexpr uint64_t kCoalesceNs = 5'000;  ///< the longest that a frame collects messages
  static constexpr uint64_t kStaleNs = 2'000;     ///< between polls: a client that polls rarely
  static constexpr uint32_t kAckFrames = 16;      ///< frames that may wait for one acknowledgement
  static constexpr uint32_t kBurstsPerPollMax = 16;
  static constexpr uint32_t kFullPollsMax = 16;    ///< in a row: then the timers run nevertheless
  static constexpr uint32_t kTimeoutsSilent = 16;  ///< unheard: not loss, but a peer that computes
  static constexpr uint64_t kSilentBackoff = 20;   ///< times the longest timeout, of such a peer
  static constexpr uint32_t kTurnFrames = 32;      ///< long frames of one flow before others' turn
  static constexpr uint32_t kNoTurn = ~0u;
  static constexpr uint32_t kShortPayload = TxBacklog::kShortBytesMax - kRecordsOffset - 144;
  static constexpr Rank kNobody = ~Rank{0};
  static constexpr uint64_t kQueueNs =
      50'000;  ///< no frame that is late by a queue's growth counts as lost
  static constexpr uint32_t kFewFrames = 8;  ///< repeated at once where a path loses much
  static constexpr uint8_t kSmallWaitPolls = 9;
  static constexpr uint32_t kFrameParts = 16;  ///< of the longest, in which a lead is counted
  static constexpr uint32_t kPostLeadMax = 8 * kFrameParts;
  static constexpr uint32_t kLeadPartsMax = 0xfff;  ///< that a flow counts
  static constexpr uint32_t kNothingPlaced = ~0u;
  static constexpr uint8_t kSendsBeforeDoubt = 2;  ///< of a long frame, all lost: is it the path?

  struct Staged {
    Rank peer;
    uint32_t sequence;
    Flow flow;
    enum : uint8_t { kFirst, kAgain, kAck, kProbe, kPiece } what;
    uint8_t flags = 0;            ///< of an acknowledgement; of a piece: how many went before
    uint64_t sent_before_ns = 0;  ///< of a frame: SendSlot::sent_ns before it was staged
  };

  enum class Kind : uint8_t { kPlain, kMessage, kAsk };  ///< what a record costs its receiver

  // lane_accept.cc: what post() takes
  bool accept(const Work& work) noexcept;
  bool accept_send(Peer& peer, const Work& work) noexcept;
  bool accept_put(Peer& peer, const Work& work) noexcept;
  std::byte* copy_put(std::byte* at, const Work& work, Index op) noexcept;
  bool accept_put_send(Peer& peer, const Work& work) noexcept;
  bool accept_copied_put_send(Peer& peer, Flow flow, const Work& work) noexcept;
  bool accept_dead(const Work& work) noexcept;
  bool local_key(const Work& work, uint32_t& port_key) noexcept;
  [[gnu::cold]] void fail_local(const Work& work) noexcept;

  // lane_ask.cc: gets and atomics
  bool accept_get(Peer& peer, const Work& work) noexcept;
  bool accept_atomic(Peer& peer, const Work& work) noexcept;
  template <RecordType kType>
  bool accept_ask(Peer& peer, const Work& work, Index op) noexcept;
  bool let_wait(Peer& peer, Index op, uint16_t small_waits) noexcept;
  bool is_ask_last(const IndexRing& queue) const noexcept;
  static void keep_head(Operation& op) noexcept;
  template <RecordType kType>
  [[gnu::always_inline]] inline void write_ask(std::byte* at, const Work& work, Index op) noexcept;
  static bool is_ask(const Work& work) noexcept;
  Built build_ask(Peer& peer, IndexRing& queue) noexcept;

  // lane_scatter.cc: puts of many small pieces
  bool accept_scatter(Peer& peer, const Work& work) noexcept;
  Reject check_scatter(Peer& peer, const Record& record, const std::byte* list) noexcept;
  void place_scattered(const Record& record, const std::byte* list) noexcept;

  // lane_long.cc: puts of frames of their own
  bool accept_long(Peer& peer, Flow flow, const Work& work) noexcept;
  bool accept_copied_long(Peer& peer, Flow flow, Operation& op, Index index) noexcept;
  /// A copied put needs slots for all its frames at once, and buffers for those with its data.
  struct CopiedFrames {
    uint32_t buffers, slots;
  };
  CopiedFrames copied_frames_of(const Peer& peer, const Work& work) const noexcept;
  bool whole_fits(Peer& peer, Flow flow, CopiedFrames frames) noexcept;
  static bool message_fits(uint32_t frame_bytes_max, const Work& work, uint64_t put_bytes) noexcept;
  void pump_ops(Peer& peer, Flow flow) noexcept;
  static bool is_one_frame(const Peer& peer, const Work& work) noexcept;
  bool build_whole(Peer& peer, Flow flow, Operation& op, Index index) noexcept;
  Built build_first(Peer& peer, Flow flow, IndexRing& queue) noexcept;
  Built build_next(Peer& peer, Flow flow, Operation& op, Index index) noexcept;
  bool build_message(Peer& peer, Flow flow, Operation& op, Index index) noexcept;
  void put_message(Peer& peer, Flow flow, Operation& op, SendSlot& slot) noexcept;
  bool build_fragment(Peer& peer, Flow flow, Operation& op, Index index) noexcept;

  // lane_respond.cc: what this rank owes
  void owe(Peer& peer, const Record& record) noexcept;
  void refuse_access(Peer& peer, const Record& record) noexcept;
  Record refusal_of(const Record& record) const noexcept;
  void pump_responses(Peer& peer) noexcept;
  [[gnu::always_inline]] inline Built build_response(Peer& peer, IndexRing& owed) noexcept;
  bool build_get_data(Peer& peer, Response& response) noexcept;

  // lane_credit.cc: how many requests this rank may send; what it lets others send
  bool credit_allows(Peer& peer, Flow flow) noexcept;
  bool ask_for_credit(Peer& peer) noexcept;
  void take_credit(Peer& peer, uint16_t credit, bool is_newest) noexcept;
  RequestCredit::Moment credit_moment() const noexcept;
  void feed_hungry() noexcept;

  // lane_frame.cc: frames under construction
  bool may_build(const Peer& peer, Flow flow, uint32_t spare,
                 bool whatever_congestion) const noexcept;
  static bool congestion_allows(const Peer& peer, const SendFlow& send, uint32_t spare) noexcept;
  uint32_t frames_for_records(const Peer& peer, Flow flow) const noexcept;
  SendSlot* start_frame(Peer& peer, Flow flow, bool large, uint32_t spare = 0,
                        bool whatever_congestion = false) noexcept;
  void overtake(Peer& peer, Flow flow) noexcept;
  void take_buffer(SendFlow& send, SendSlot& slot, Index buffer) noexcept;
  SendSlot* start_record_frame(Peer& peer, Flow flow, bool large, bool is_small) noexcept;
  /// Room for one whole record of `bytes`, in an open frame or a new one.
  std::byte* reserve_record(Peer& peer, Flow flow, uint32_t bytes, Kind kind,
                            SendSlot*& slot) noexcept;
  /// The same for an operation that waited.
  std::byte* reserve_for_waiting(Peer& peer, Flow flow, uint32_t bytes, Kind kind,
                                 bool collects) noexcept;
  [[gnu::always_inline]] inline std::byte* join_record(Peer& peer, Flow flow, uint32_t bytes,
                                                       Kind kind, SendSlot*& slot) noexcept;
  [[gnu::always_inline]] inline std::byte* begin_record(Peer& peer, Flow flow, uint32_t bytes,
                                                        Kind kind, SendSlot& slot,
                                                        bool collects) noexcept;
  void chain_op(SendSlot& slot, Index op) noexcept;
  void built(Peer& peer, Flow flow) noexcept;
  void send_whole(Peer& peer, Flow flow) noexcept;

  // lane_lead.cc: who builds the next frame of a flow
  static bool is_long_due(const Peer& peer, Flow flow) noexcept;
  bool is_copied_due(const SendFlow& send) const noexcept;
  bool goes_first(const Peer& peer, const SendFlow& send, bool is_small) const noexcept;
  bool may_post(Peer& peer, Flow flow, bool is_small) noexcept;
  bool makes_way(const Peer& peer, Flow flow) const noexcept;
  static void lead(Peer& peer, Flow flow, uint32_t bytes) noexcept;
  void lead_with_record(Peer& peer, Flow flow, uint32_t bytes, bool is_small) noexcept;
  static void deny(SendFlow& send) noexcept;
  void refuse_copied(SendFlow& send, uint32_t frames) noexcept;
  void accept_copied(SendFlow& send, uint32_t frames) noexcept;
  void end_copied_turns(SendFlow& send) noexcept;
  void lead_copied(const SendFlow& send) noexcept;
  static void follow(SendFlow& send, Built built) noexcept;

  // lane_send.cc: frames to the port
  void attend(Peer& peer) noexcept;
  void serve_attention() noexcept;
  void begin_turn(const Peer& peer, const SendFlow& send, uint32_t frames_max) noexcept;
  uint32_t turn_frames_waiting(const SendFlow& send) noexcept;
  bool turn_is_over(uint64_t payload_left) noexcept;
  static bool is_quiet(const Peer& peer, Flow flow) noexcept;
  void serve_flow(Peer& peer, Flow flow) noexcept;
  void build_long(Peer& peer, Flow flow) noexcept;
  void send_built(Peer& peer, Flow flow) noexcept;
  bool serve(Peer& peer) noexcept;
  void tell_of_room(Peer& peer) noexcept;
  uint8_t refusing(const Peer& peer) const noexcept;
  bool has_room(const Peer& peer, Flow flow) const noexcept;
  bool may_accept(const Peer& peer, Flow flow) const noexcept;
  bool may_send(const Peer& peer, const SendFlow& send) const noexcept;
  bool asks_for_room(const SendFlow& send, uint32_t sequence) noexcept;
  void transmit(Peer& peer, Flow flow) noexcept;
  void retransmit(Peer& peer, Flow flow) noexcept;
  void prepare(const Peer& peer, SendFlow& send, SendSlot& slot) noexcept;
  void stage_slot(Peer& peer, Flow flow, uint32_t sequence, bool again) noexcept;
  void flush() noexcept;
  void unstage(const Staged& staged) noexcept;

  // lane_piece.cc: frames longer than the path
  void make_pieces();
  uint32_t piece_stride() const noexcept { return round_up<uint32_t>(nic_.config.path_bytes, 64); }
  void stage_pieces(Peer& peer, const FrameHeader& header, bool again) noexcept;
  void stage_piece(Peer& peer, const FrameHeader& whole, SendSlot& slot,
                   const Piece& piece) noexcept;
  bool pieces_must_wait(const Peer& peer, const SendFlow& send, uint32_t sequence) noexcept;
  bool receive_piece(Peer& peer, FrameHeader& header, RxFrame& frame) noexcept;
  void want_wide(Peer& peer) noexcept;
  void send_probe(Peer& peer, uint32_t frame_bytes) noexcept override;
  void path_narrowed(Peer& peer) noexcept override;
  void path_has_hole(Peer& peer) noexcept override;
  void take_probe(Peer& peer, const FrameHeader& header) noexcept;

  // lane_seal.cc: the last bytes of a frame
  void stage_ack(Peer& peer) noexcept;
  void stage_whole(Peer& peer, std::byte* frame, FrameHeader& header, const std::byte* records,
                   const Staged& what) noexcept;
  uint16_t host_delay(const Peer& peer) const noexcept;
  void finish_header(Peer& peer, std::byte* frame, FrameHeader& header,
                     const RecordHashes& hashes) noexcept;
  bool leaves_body_unhashed() const noexcept;
  void seal(Rank destination, SendSlot& slot) noexcept;
  void count_body(const SendSlot& slot) noexcept;
  void snapshot_body(SendFlow& send, SendSlot& slot) noexcept;

  // lane_ack.cc: acknowledgements
  bool acks_valid(const Peer& peer, const FrameHeader& header) const noexcept;
  void take_acks(Peer& peer, const FrameHeader& header, const SackBitmap* sacks) noexcept;
  uint64_t fabric_delay_ns(uint64_t rtt_ns, uint16_t host_delay) const noexcept;
  void note_path(uint64_t path_ns) noexcept;
  void take_flow_ack(Peer& peer, Flow flow, const FrameHeader& header,
                     const SackBitmap* sack) noexcept;
  void repeat_refused(Peer& peer, SendFlow& send) noexcept;
  void slot_acked(SendFlow& send, SendSlot& slot, Index index) noexcept;
  void release_slot(SendFlow& send, SendSlot& slot, Index index) noexcept;
  void open_window(Peer& peer, Flow flow, Index window) noexcept;
  void close_window(Peer& peer, Flow flow) noexcept;

  // lane_loss.cc: loss and timers
  void find_lost(Peer& peer, Flow flow, uint64_t newest_sent_ns) noexcept;
  void find_lost_after(Peer& peer, Flow flow, uint64_t newest_sent_ns, bool is_answer) noexcept;
  void find_deferred() noexcept;
  void expect_rest(const Peer& peer, SendFlow& send) noexcept;
  void mark_lost(SendFlow& flow, uint32_t sequence) noexcept;
  static bool is_lost(const SendWindow& window, uint32_t sequence) noexcept;
  void unmark_lost(SendFlow& send, uint32_t sequence) noexcept;
  void set_timer(uint64_t at_ns) noexcept;
  uint64_t timeout_ns(const Peer& peer, const SendFlow& send) noexcept;
  uint64_t first_timeout_ns(const Peer& peer) const noexcept;
  RtoLimits rto_limits(const Peer& peer) const noexcept;
  uint64_t waited_ns(uint64_t sent_ns) const noexcept;
  void restamp_posted() noexcept;
  void run_timers() noexcept;
  void run_flow_timer(Peer& peer, Flow flow) noexcept;
  void ask_late(Peer& peer, Flow flow) noexcept;
  static void forget_question(Peer& peer, Flow flow) noexcept;
  void take_answer(Peer& peer, uint32_t newest, uint8_t refusing) noexcept;
  void repeat_late(Peer& peer, SendFlow& send) noexcept;

  // lane_silence.cc: are they there, for whom this rank waits?
  void ask(Peer& peer) noexcept;
  bool peer_silent(Peer& peer) noexcept;
  void give_up(Peer& peer) noexcept;
  void await_response(Operation& op) noexcept;
  void run_watch() noexcept;
  void watch(Peer& peer) noexcept;
  void ask_for_presence(Peer& peer) noexcept;

  // lane_receive.cc: frames from the port
  struct Needs {
    uint32_t messages = 0;
    uint32_t others = 0;  ///< records to execute
    uint32_t responses = 0;
    uint32_t before = 0;
    uint32_t last_at = 0;  ///< the last record
  };
  struct Judged {
    Needs needs;
    Reject bad = Reject::kNone;
    bool is_placed = false;  ///< the last record's payload is where it belongs
  };
  uint32_t receive_bursts() noexcept;
  uint32_t receive_burst() noexcept;
  bool receive_frame(RxFrame& frame) noexcept;
  bool receive_other(Peer& peer, FrameHeader& header, RxFrame& frame) noexcept;
  void answer_arp(const RxFrame& frame) noexcept;
  Reject authenticate(const RxFrame& frame, FrameHeader& header) const noexcept;
  Reject check_fresh(const Peer& peer, const FrameHeader& header) const noexcept;
  void take_header(Peer& peer, const FrameHeader& header, const RxFrame& frame) noexcept;
  void take_sacks(Peer& peer, const FrameHeader& header, const RxFrame& frame) noexcept;
  bool receive_records(Peer& peer, const FrameHeader& header, const RxFrame& frame) noexcept;
  bool take_records(Peer& peer, const FrameHeader& header, const RxFrame& frame,
                    const Judged& judged) noexcept;
  Reject check_arrival(const Peer& peer, const FrameHeader& header) const noexcept;
  Reject judge(Peer& peer, const FrameHeader& header, const std::byte* records,
               Needs& needs) noexcept;
  void turn_away(Peer& peer, const FrameHeader& header, Reject reason) noexcept;
  Reject check_records(Peer& peer, const FrameHeader& header, const std::byte* records,
                       Needs& needs) noexcept;
  Reject check_access(Peer& peer, const Record& record) noexcept;
  Reject check_response(const Peer& peer, const Record& record) const noexcept;

  // lane_body.cc: the large payload of a frame's last record
  bool covers_body(const RxFrame& frame, const FrameHeader& header) const noexcept;
  bool receive_body(const FrameHeader& header, const RxFrame& frame, uint32_t record_at) noexcept;
  std::byte* target_of(const Record& record) noexcept;

  // lane_execute.cc: one-sided records
  void execute(Peer& peer, const std::byte* records, uint32_t bytes, uint32_t placed_at) noexcept;
  void execute_atomic(Peer& peer, const Record& record) noexcept;
  void place_get_data(const Record& record, const std::byte* payload) noexcept;
  void forget_op(Peer& peer, Index op) noexcept;
  void take_refusal(Peer& peer, const Record& record) noexcept;

  void note_idle() noexcept;
  /// To be sent, acknowledged or handed out.
  bool nothing_waits() const noexcept;

  Rank rank_of(const Peer& peer) const noexcept { return static_cast<Rank>(&peer - peers_.get()); }
  SendSlot& slot_at(const SendFlow& flow, uint32_t sequence, Index& index) noexcept;

  NicShared& nic_;
  const uint32_t index_;
  FrameKeys keys_;
  uint16_t job_tag_;
  uint16_t udp_port_;
  Endpoint self_;
  RtoLimits rto_limits_;
  Random random_;
  uint64_t now_ns_ = 0;
  uint64_t previous_ns_ = 0;
  uint64_t absent_until_ns_ = 0;  ///< frames sent before this give no round-trip samples
  uint64_t deferred_at_ns_ = 0;   ///< the poll whose end is to find what is lost; 0: none
  uint64_t next_timer_ns_ = ~uint64_t{0};
  uint32_t poll_ = 0;
  uint32_t tx_burst_ = kBurst;
  bool is_polling_ = false;  ///< inside recv(), where now_ns_ is the time
  bool port_busy_ = false;
  bool posted_ = false;  ///< since the last poll: frames bear its time, which may be long ago
  uint32_t posts_since_poll_ = 0;
  bool has_gone_first_ = false;     ///< a small record, since the last poll
  uint32_t posts_before_poll_ = 0;  ///< between the last poll and the one before it
  bool timers_skipped_ = false;
  bool copying_ =
      false;  ///< a copied put is being cut: all of it, whatever the congestion window says
  bool has_sent_ = false;         ///< in this poll
  bool holds_frames_ = false;     ///< the port, or a time, holds some back
  bool waits_for_peers_ = false;  ///< the last poll did nothing, and peers must poll first
  bool rx_more_ = false;
  uint32_t full_polls_ = 0;       ///< the last ones in a row that left frames in the port
  uint32_t turn_left_ = kNoTurn;  ///< long frames that the flow in its turn may still build
  uint32_t shorts_left_ = 0;      ///< short frames that it may build besides
  bool turn_is_full_ = false;     ///< the port had room for all of its turn
  bool turn_cut_ = false;         ///< the peer had more to send than its turns allowed
  bool has_moved_ = false;        ///< the flow has built or sent long frames
  bool port_is_full_ = false;     ///< the flow had more to send than the port has room for
  Rank first_denied_ = kNobody;   ///< the first peer of this poll that found no room at all
  TxBacklog backlog_;
  Load load_;
  uint64_t shortest_path_ns_ = 0;  ///< of those that are known; 0: none is

  ZeroedArray<Peer> peers_;  ///< connect() makes them; the others are zero bytes
  RankRing attention_;       ///< ranks to which something is to be sent or acknowledged

  PoolShare slot_share_;
  PoolShare buffer_share_;
  uint32_t lend_while_free_ = 0;  ///< shared buffers that lend() leaves
  uint32_t window_reserve_ = 0;   ///< of windows, for replies, where not every flow can have one
  IndexPool<SendSlot> slots_;
  ZeroedArray<std::byte> small_frames_;
  struct Buffer {};
  IndexPool<Buffer> buffers_;
  std::byte* buffer_bytes_ = nullptr;
  uint32_t buffer_stride_ = 0;
  IndexPool<SendWindow> windows_;
  IndexPool<CopiedTurns> copied_turns_;
  std::unique_ptr<Index[]> active_windows_;
  uint32_t active_count_ = 0;
  Operations ops_;
  Responses responses_;
  ArrivedAheadPool ahead_;
  HeldMessages messages_;
  RequestCredit credit_;
  PathProbe paths_;
  Liveness liveness_;

  std::unique_ptr<std::byte[]> piece_frames_;  ///< one for each staged frame
  Assemblies assemblies_;

  TxFrame staged_[kBurst] = {};
  Staged staged_what_[kBurst] = {};
  uint32_t staged_count_ = 0;
  std::unique_ptr<std::byte[]> ack_frames_;  ///< one for each staged frame
  Counters counters_;
  bool left_arrivals_ = false;    ///< the last recv(), which had no room for any
  std::atomic<bool> idle_{true};  ///< a hint for other threads; orders nothing
};

}  // namespace pinwire

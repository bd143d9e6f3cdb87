#include "nicfw/lane/lane.h"

#include <bit>
#include <new>

#include "core/base/bits.h"

namespace pinwire {
namespace {

FrameKeys lane_keys(const NicShared& nic, uint32_t lane) noexcept {
  const FrameKey key(nic.info.job_key, lane);
  return FrameKeys(nic.facts.memory_medium ? key.over_memory() : key);
}

CongestionSignal congestion_signal(const PortFacts& facts) noexcept {
  if (facts.memory_medium) return CongestionSignal::kNone;
  return facts.inside_host ? CongestionSignal::kLoss : CongestionSignal::kDelay;
}

}  // namespace

Lane::Lane(NicShared& nic, uint32_t index)
    : nic_(nic),
      index_(index),
      keys_(lane_keys(nic, index)),
      job_tag_(FrameKey(nic.info.job_key, 0).job_tag()),
      udp_port_(static_cast<uint16_t>(nic.config.udp_port + index)),
      self_(nic.self),
      rto_limits_{nic.config.rto_min_ns, nic.config.rto_max_ns},
      random_(nic.config.seed + index) {
  const uint32_t ranks = nic.info.rank_count;
  const uint32_t window = nic.config.window_frames;
  self_.udp_port = udp_port_;
  peers_.make(ranks);
  const uint32_t idle = std::min(ranks, kIdleHoldersMax);
  // Two slots: the message of a put-send may need a frame of its own behind that of the data.
  const PoolReserve slots{
      .holders = kFlows * idle, .own = 2, .replies = window, .whole = copied_frames(window)};
  slot_share_ = PoolShare(slots);
  slots_.make(4 * window + slots.items());
  small_frames_.make(size_t{slots_.size()} * kSmallFrameBytes);
  buffer_share_ = PoolShare(buffer_reserve(window, ranks));
  const uint32_t buffers = frame_buffers(window, ranks);
  buffers_.make(buffers);
  lend_while_free_ = copied_window(window) / 4 * 3 + copied_frames(window);
  buffer_stride_ = nic.frames.stride;
  buffer_bytes_ = nic.frames.bytes.get() + size_t{index} * buffers * buffer_stride_;
  const uint32_t windows = std::max(kFlows * idle, 12u);
  window_reserve_ = ranks > idle ? windows / 4 : 0;
  windows_.make(windows);
  copied_turns_.make(windows);
  active_windows_ = std::make_unique<Index[]>(windows);
  ops_.make(peers_.get(), ranks, window, nic.config.first_sequence);
  responses_.make(ranks, window);
  ahead_.make(std::min(kFlows * ranks, kGapsMax));
  const uint32_t rx_buffers = std::min(nic.facts.rx_buffers, 0xfff0u);
  messages_.make(nic.port, index, peers_.get(), ahead_, rx_buffers);
  const uint32_t first = nic.config.first_sequence;
  poll_ = first;
  attention_.make(ranks, first);
  credit_.make(peers_.get(), ranks, messages_.request_buffers(), rx_buffers,
               std::clamp(nic.info.network_depth, 2u, kWindowFramesMax), first);
  paths_.make({.peers = peers_.get(),
               .ranks = ranks,
               .first = first,
               .path_bytes = nic.config.path_bytes,
               .are_all_open = nic.facts.stays_inside_host(),
               .timeout_limits = rto_limits_},
              *this, random_);
  // Memory of one host cannot lose frames, so that only the peer's process can be late, and whether
  // that lives is for the launcher to say.
  liveness_.make(nic.facts.memory_medium ? 0 : nic.config.peer_timeout_ns);
  tx_burst_ = std::clamp(nic.facts.tx_burst_max, 1u, kBurst);
  ack_frames_ = std::make_unique<std::byte[]>(size_t{kBurst} * kAckFrameBytes);
  make_pieces();
  const PortFacts& facts = nic.facts;
  backlog_.start(facts.stays_inside_host() ? 0 : facts.speed_bits_per_s, facts.frame_bytes_max);
}

void Lane::connect(Rank rank, const Endpoint& endpoint) noexcept {
  check(!peers_[rank].connected, "connected twice", rank);
  Peer& peer = *new (&peers_[rank]) Peer;
  Endpoint to = endpoint;
  to.udp_port = static_cast<uint16_t>(endpoint.udp_port + index_);
  encode_encapsulation(peer.encapsulation, self_, to, kRecordsOffset);
  const uint32_t first = nic_.config.first_sequence;
  for (uint32_t f = 0; f < kFlows; ++f) {
    peer.send[f].una = peer.send[f].unsent = peer.send[f].next = first;
    peer.receive[f].start(first);
  }
  peer.frames_numbered = nic_.config.first_number;
  peer.arrived.start(nic_.config.first_number);
  peer.frame_bytes_max = static_cast<uint16_t>(
      std::min<uint32_t>(nic_.facts.frame_bytes_max, endpoint.frame_bytes_max));
  paths_.start(peer);
  // More than half of its buffers in one flight would only be dropped.
  peer.congestion.start(std::clamp<uint32_t>(endpoint.rx_buffers / 2, 2, nic_.config.window_frames),
                        peer.frame_bytes_max, congestion_signal(nic_.facts));
  peer.first_credit = static_cast<uint16_t>(first_credit(
      std::min<uint32_t>(endpoint.rx_buffers, 0xfff0u), nic_.info.rank_count, credit_.depth()));
  peer.requests_built = peer.requests_accepted = first;
  peer.request_limit = first + peer.first_credit;
  peer.advertised = first + credit_.first();
  // One short round trip says nothing of the next: patience fades with the answers that come.
  peer.rtt.waited(RttEstimate::kFirstRtoNs / 5 * 4);
  peer.connected = true;
}

uint32_t Lane::post(std::span<const Work> work) noexcept {
  port_busy_ = false;
  posted_ = true;
  uint32_t accepted = 0;
  while (accepted < work.size() && accept(work[accepted])) ++accepted;
  if (accepted < work.size()) counters_.add(Count::kPostRefused);
  posts_since_poll_ += accepted;
  flush();
  if (ops_.has_done()) note_idle();
  return accepted;
}

/// A buffer of those for large frames: three quarters of the shared ones, and all that are kept for
/// somebody, always stay for frames and copied puts.
Lent Lane::lend() noexcept {
  if (buffer_share_.shared_left(buffers_.available()) <= lend_while_free_) return {};
  const Index index = buffers_.take();
  check(index != kNoIndex, "a buffer was lent that is not there");
  return {buffer_bytes_ + size_t{index} * buffer_stride_, buffer_stride_, index};
}

void Lane::take_back(const Lent& lent) noexcept { buffers_.give(static_cast<Index>(lent.name)); }

uint32_t Lane::done(std::span<Done> out) noexcept {
  const uint32_t count = ops_.done(out);
  if (count != 0) note_idle();
  return count;
}

uint32_t Lane::recv(RecvFilter filter, std::span<Recv> out) noexcept {
  // A turn that handed nothing out may have left messages: the dispatcher's turn does, which has a
  // client thread handle them. This turn hands them out, and counts as the same turn, so that a
  // reply carries the acknowledgement.
  if (!left_arrivals_ || out.empty()) ++poll_;
  previous_ns_ = now_ns_;
  now_ns_ = nic_.clock.now_ns();
  constexpr uint64_t kAbsenceNs = 200'000;
  backlog_.passed(now_ns_ - previous_ns_);
  load_.poll(now_ns_);
  liveness_.poll(now_ns_ - previous_ns_);
  if (posted_ && now_ns_ - previous_ns_ > kStaleNs) restamp_posted();
  if (now_ns_ - previous_ns_ > kAbsenceNs) absent_until_ns_ = now_ns_;
  posted_ = false;
  posts_before_poll_ = posts_since_poll_;
  posts_since_poll_ = 0;
  has_gone_first_ = false;
  port_busy_ = has_sent_ = holds_frames_ = false;
  is_polling_ = true;
  const uint32_t received = receive_bursts();
  find_deferred();
  run_timers();
  if (credit_.has_hungry()) feed_hungry();
  if (!attention_.empty()) serve_attention();
  flush();
  is_polling_ = false;
  waits_for_peers_ = received == 0 && !has_sent_ && !holds_frames_ && !port_busy_;
  uint32_t count = messages_.deliver(MessageClass::kReply, out);
  if (filter == RecvFilter::kAll) {
    count += messages_.deliver(MessageClass::kRequest, out.subspan(count));
  }
  counters_.add(Count::kMessagesReceived, count);
  left_arrivals_ = out.empty() && has_arrivals();
  messages_.flush_releases();
  if (received == 0 && count == 0) {
    note_idle();
  } else {
    idle_.store(false, std::memory_order_relaxed);
  }
  return count;
}

void Lane::give_back(std::span<const Recv> buffers) noexcept { messages_.give_back(buffers); }

void Lane::note_idle() noexcept { idle_.store(!has_arrivals(), std::memory_order_relaxed); }

bool Lane::nothing_waits() const noexcept {
  return attention_.empty() && !has_arrivals() && !credit_.can_feed();
}

/// Sleeping is safe only when nothing but an arriving frame, or a timer, can make progress: also
/// while frames wait until peers, which may compute, acknowledge others.
Armed Lane::arm() noexcept {
  const bool has_work = !attention_.empty();
  if (has_work && (!waits_for_peers_ || posted_)) return Armed::kBusy;
  if (has_arrivals() || credit_.can_feed() || nic_.port.arm(index_) == PortArmed::kBusy)
    return Armed::kBusy;
  const bool has_timers =
      has_work || active_count_ != 0 || paths_.is_probing() || ops_.has_awaited();
  return has_timers ? Armed::kTimed : Armed::kArmed;
}

void Lane::close() noexcept { ops_.finish_all(Operations::kEveryPeer, WorkStatus::kFlushed); }

}  // namespace pinwire

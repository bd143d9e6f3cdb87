// Loss is told by time, as RACK (RFC 8985) tells it: a frame is lost when one that was sent later,
// by more than the reordering that we tolerate, has arrived; or when one behind it has arrived and
// a round trip and that tolerance have passed. This finds lost retransmissions, too. When nothing
// at all comes back, the timeout asks the peer what has arrived: a peer that is late has lost
// nothing. If the answer leaves out the oldest frame, that is repeated, and after a second timeout
// a few are: their acknowledgement then tells what else is missing.
#include <utility>

#include "core/base/bits.h"
#include "nicfw/lane/lane.h"

namespace pinwire {

void Lane::find_lost(Peer& peer, Flow flow, uint64_t newest_sent_ns) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const SendWindow& window = windows_[send.window];
  const uint64_t tolerance_ns = std::max(peer.rtt.overtaken_ns() / 4, rto_limits_.min_ns / 4);
  // On a path that has just become slower, the round trip of what has arrived is longer than usual,
  // and that of a frame sent with it is about as long (RACK.rtt of RFC 8985).
  const uint64_t latest_ns = newest_sent_ns == 0 ? 0 : now_ns_ - newest_sent_ns;
  const uint64_t overtaken_ns = std::max(peer.rtt.overtaken_ns(), latest_ns) + tolerance_ns;
  send.reorder_at_ns = 0;
  uint32_t behind = send.sacked;
  uint32_t found = 0;
  for (uint32_t s = send.una; s != send.unsent; ++s) {
    const Index index = window.slot[s % kWindowFramesMax];
    if (index == kNoIndex) {
      --behind;
      continue;
    }
    const SendSlot& slot = slots_[index];
    const bool older = slot.sent_ns + tolerance_ns < newest_sent_ns;
    if (older || (behind != 0 && now_ns_ >= slot.sent_ns + overtaken_ns)) {
      mark_lost(send, s);
      paths_.note_loss(peer, slot.frame_bytes(), now_ns_);
      ++found;
    } else if (behind != 0) {
      const uint64_t at_ns = slot.sent_ns + overtaken_ns;
      if (send.reorder_at_ns == 0 || at_ns < send.reorder_at_ns) send.reorder_at_ns = at_ns;
    } else if (slot.sends == 1) {
      break;  // those after it were sent later still
    }
  }
  if (send.reorder_at_ns != 0) set_timer(send.reorder_at_ns);
  if (found == 0) return;
  peer.congestion.on_loss(found, peer.rtt.smoothed_ns(), now_ns_);
  attend(peer);
}

/// Looks for what is lost now, or at the end of the poll.
void Lane::find_lost_after(Peer& peer, Flow flow, uint64_t newest_sent_ns,
                           bool is_answer) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (now_ns_ != absent_until_ns_) {
    find_lost(peer, flow, newest_sent_ns);
    if (is_answer) expect_rest(peer, send);
    return;
  }
  uint64_t& deferred_ns = windows_[send.window].deferred_ns;
  deferred_ns = std::max(deferred_ns, newest_sent_ns + 1);
  if (deferred_at_ns_ == 0) deferred_at_ns_ = now_ns_;
  send.reorder_at_ns = 0;
  send.is_answered = is_answer;
}

/// At the end of a poll: an acknowledgement that it took after an absence may have had others
/// beside it, which tell more. Where the port had still more to give, the next poll's end is late
/// enough.
void Lane::find_deferred() noexcept {
  if (deferred_at_ns_ == 0 || (rx_more_ && deferred_at_ns_ == now_ns_)) return;
  deferred_at_ns_ = 0;
  for (uint32_t i = 0; i < active_count_; ++i) {
    SendWindow& window = windows_[active_windows_[i]];
    const uint64_t newest_ns = std::exchange(window.deferred_ns, 0);
    if (newest_ns == 0) continue;
    Peer& peer = peers_[window.peer];
    SendFlow& send = peer.send[static_cast<size_t>(window.flow)];
    const bool is_answered = send.is_answered;
    send.is_answered = false;
    find_lost(peer, window.flow, newest_ns - 1);
    if (is_answered) expect_rest(peer, send);
  }
}

/// A peer that answers after a timeout has polled: what it had got before is acknowledged in the
/// same turn or the next. The rest need not wait for a timeout each.
void Lane::expect_rest(const Peer& peer, SendFlow& send) noexcept {
  if (send.lost != 0 || send.reorder_at_ns != 0) return;
  send.is_answered = true;
  send.reorder_at_ns = now_ns_ + 2 * peer.rtt.overtaken_ns();
  set_timer(send.reorder_at_ns);
}

void Lane::mark_lost(SendFlow& send, uint32_t sequence) noexcept {
  SendWindow& window = windows_[send.window];
  // One that the port has just given back is not sent yet (unstage()).
  if (!seq_before(sequence, send.unsent)) return;
  if (window.slot[sequence % kWindowFramesMax] == kNoIndex) return;
  uint64_t& lost = window.lost[(sequence % kWindowFramesMax) / 64];
  const uint64_t bit = uint64_t{1} << (sequence % 64);
  if (!(lost & bit)) ++send.lost;
  lost |= bit;
}

/// Is it to be repeated, and was not yet?
bool Lane::is_lost(const SendWindow& window, uint32_t sequence) noexcept {
  return window.lost[(sequence % kWindowFramesMax) / 64] >> (sequence % 64) & 1;
}

void Lane::unmark_lost(SendFlow& send, uint32_t sequence) noexcept {
  uint64_t& lost = windows_[send.window].lost[(sequence % kWindowFramesMax) / 64];
  const uint64_t bit = uint64_t{1} << (sequence % 64);
  if (lost & bit) --send.lost;
  lost &= ~bit;
}

void Lane::set_timer(uint64_t at_ns) noexcept { next_timer_ns_ = std::min(next_timer_ns_, at_ns); }

/// How long a frame of this flow is waited for. The back-off ends with an acknowledgement, or the
/// answer to a question, that tells how long the peer takes: not with the acknowledgement of a
/// frame that was repeated in vain (Karn).
uint64_t Lane::timeout_ns(const Peer& peer, const SendFlow& send) noexcept {
  return peer.rtt.backed_off_ns(rto_limits(peer), send.backoff, random_);
}

uint64_t Lane::first_timeout_ns(const Peer& peer) const noexcept {
  return peer.rtt.rto_ns(rto_limits(peer));
}

/// While nothing at all is heard of a peer for long, it most likely computes, with the frame in its
/// ring: the back-off goes on to a second.
RtoLimits Lane::rto_limits(const Peer& peer) const noexcept {
  RtoLimits limits = rto_limits_;
  // A queue grows within a round trip, and where it is long, round trips hardly vary.
  if (peer.congestion.heeds_delay()) {
    limits.min_ns = std::max({limits.min_ns, kQueueNs, 2 * peer.rtt.smoothed_ns()});
    limits.max_ns = std::max(limits.max_ns, limits.min_ns);
  }
  if (peer.timeouts_unheard >= kTimeoutsSilent) {
    const uint64_t often_ns = nic_.config.peer_timeout_ns / kSilentBackoff;  // 0: it may be silent
    const uint64_t longest_ns = limits.max_ns * kSilentBackoff;
    limits.max_ns =
        std::max(limits.max_ns, often_ns != 0 ? std::min(longest_ns, often_ns) : longest_ns);
  }
  return limits;
}

/// How long the peer took, by an acknowledgement that this poll brings. A client that
/// itself polls rarely learns it only of frames that an earlier poll had looked for in vain.
uint64_t Lane::waited_ns(uint64_t sent_ns) const noexcept {
  if (sent_ns >= now_ns_) return 0;
  return sent_ns >= absent_until_ns_ || sent_ns < previous_ns_ ? now_ns_ - sent_ns : 0;
}

/// Frames that post() sent since the last poll bear the time of that poll. If that was long ago,
/// the client computed meanwhile, and they are younger than that: give them the time of this poll,
/// and their timeout from now. The odd nanosecond marks them as done, or a client that posts before
/// each poll would put off the timeout for ever.
void Lane::restamp_posted() noexcept {
  for (uint32_t i = 0; i < active_count_; ++i) {
    const SendWindow& window = windows_[active_windows_[i]];
    Peer& peer = peers_[window.peer];
    SendFlow& send = peer.send[static_cast<size_t>(window.flow)];
    for (uint32_t s = send.unsent; s != send.una; --s) {
      const Index index = window.slot[(s - 1) % kWindowFramesMax];
      if (index == kNoIndex) continue;
      SendSlot& slot = slots_[index];
      if (slot.sent_ns != previous_ns_ || !slot.was_posted) break;
      slot.sent_ns = now_ns_ + 1;
      slot.is_restamped = true;
      if (s - 1 == send.una && send.rto_at_ns != 0) {
        send.rto_at_ns = now_ns_ + timeout_ns(peer, send);
        set_timer(send.rto_at_ns);
      }
    }
  }
}

void Lane::run_timers() noexcept {
  if (now_ns_ < next_timer_ns_) return;
  // More frames wait in the port: they may be what the timers wait for. But a peer that keeps the
  // port full must not put off the timers of all others.
  if (full_polls_ % kFullPollsMax != 0) return;
  // Nobody polled for long: first see what came meanwhile. Sixteen full polls have seen it.
  if (full_polls_ == 0 && now_ns_ == absent_until_ns_ && !timers_skipped_) {
    timers_skipped_ = true;
    return;
  }
  timers_skipped_ = false;
  next_timer_ns_ = ~uint64_t{0};
  for (uint32_t i = active_count_; i > 0; --i) {  // downwards: giving up a peer closes windows
    if (i > active_count_) continue;
    const SendWindow& window = windows_[active_windows_[i - 1]];
    run_flow_timer(peers_[window.peer], window.flow);
  }
  if (paths_.is_probing()) set_timer(paths_.run(now_ns_));
  if (ops_.has_awaited()) run_watch();
}

void Lane::run_flow_timer(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (send.reorder_at_ns != 0 && now_ns_ >= send.reorder_at_ns) {
    const uint64_t answered_ns = send.reorder_at_ns - 2 * peer.rtt.overtaken_ns();
    find_lost(peer, flow, send.is_answered ? answered_ns : 0);
    send.is_answered = false;
  }
  if (send.una == send.unsent) send.rto_at_ns = 0;
  if (send.rto_at_ns != 0 && now_ns_ >= send.rto_at_ns) {
    if (peer_silent(peer)) {
      give_up(peer);
      return;
    }
    Liveness::count_question(peer);
    if (send.timeouts < 7) ++send.timeouts;
    if (send.backoff < 31) ++send.backoff;
    send.rto_at_ns = now_ns_ + timeout_ns(peer, send);
    ask_late(peer, flow);
  }
  if (send.reorder_at_ns != 0) set_timer(send.reorder_at_ns);
  if (send.rto_at_ns != 0) set_timer(send.rto_at_ns);
}

/// A frame that is not acknowledged in time was lost, or its acknowledgement was, or the peer is
/// late: its host computes, or another process has its core. Only in the first case does a repeat
/// help; in the others it is a duplicate. The peer is therefore asked: its answer tells the newest
/// frame that has arrived.
void Lane::ask_late(Peer& peer, Flow flow) noexcept {
  counters_.add(Count::kLateAsks);
  peer.asked_flows = static_cast<uint8_t>(peer.asked_flows | 1u << static_cast<uint32_t>(flow));
  peer.asked_number = static_cast<uint32_t>(peer.frames_numbered);
  peer.asked_at_ns = static_cast<uint32_t>(now_ns_);
  ask(peer);
}

void Lane::forget_question(Peer& peer, Flow flow) noexcept {
  peer.asked_flows = static_cast<uint8_t>(peer.asked_flows & ~(1u << static_cast<uint32_t>(flow)));
}

/// An acknowledgement, whose cumulative ones are taken, tells the newest frame that the peer has
/// got. If that left after a question, what the question was about did not arrive, or was refused.
/// A peer that answers within the first timeout is not late: the back-off is for those that are.
/// The peer refuses frames of the flows in `refusing` (FrameFlags); the lane repeats those when the
/// peer has room again (repeat_refused()).
void Lane::take_answer(Peer& peer, uint32_t newest, uint8_t refusing) noexcept {
  if (peer.asked_flows == 0 || seq_before(newest, peer.asked_number)) return;
  const uint64_t took_ns = static_cast<uint32_t>(now_ns_) - peer.asked_at_ns;
  const bool is_prompt = took_ns <= first_timeout_ns(peer);
  for (uint32_t f = 0; f < kFlows; ++f) {
    if (!(peer.asked_flows >> f & 1)) continue;
    if (refusing & refusal_flag(static_cast<Flow>(f))) continue;
    if (is_prompt) peer.send[f].backoff = 0;
    SendFlow& send = peer.send[f];
    Index index;
    const SendSlot& oldest = slot_at(send, send.una, index);
    // Repeated since, perhaps before this poll, which stamped it: the answer is not about it.
    if (oldest.sent_ns > now_ns_ || now_ns_ - oldest.sent_ns < took_ns) continue;
    repeat_late(peer, send);
  }
  peer.asked_flows = 0;
  attend(peer);
}

void Lane::repeat_late(Peer& peer, SendFlow& send) noexcept {
  dcheck(send.una != send.unsent, "a flow was asked for that has nothing under way", send.una);
  send.rto_at_ns = now_ns_ + timeout_ns(peer, send);
  set_timer(send.rto_at_ns);
  if (is_lost(windows_[send.window], send.una)) return;  // it only waits for its turn
  counters_.add(Count::kTimeouts);
  Index index;
  paths_.note_loss(peer, slot_at(send, send.una, index).frame_bytes(), now_ns_);
  mark_lost(send, send.una);
  peer.congestion.on_loss(1, peer.rtt.smoothed_ns(), now_ns_);
  if (send.timeouts <= 1) return;
  // The first repetition, or a question, or its answer, was lost, too: this path loses much. A few
  // at once have a better chance.
  const uint32_t few = std::min(send.unsent - send.una, kFewFrames);
  for (uint32_t i = 1; i < few; ++i) mark_lost(send, send.una + i);
}

}  // namespace pinwire

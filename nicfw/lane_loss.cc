// Loss is told by time, as RACK (RFC 8985) tells it: a frame is lost when one that was sent later,
// by more than the reordering that we tolerate, has arrived; or when one behind it has arrived and
// a round trip and that tolerance have passed. This finds lost retransmissions, too. When nothing
// at all comes back, the timeout repeats one frame only, a second one a few: their acknowledgement
// then tells what else is missing.
#include "nicfw/lane.h"

namespace pinwire {

void Lane::find_lost(Peer& peer, Flow flow, uint64_t newest_sent_ns) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  const SendWindow& window = windows_[send.window];
  const uint64_t tolerance_ns = std::max(peer.rtt.overtaken_ns() / 4, rto_limits_.min_ns / 4);
  const uint64_t overtaken_ns = peer.rtt.overtaken_ns() + tolerance_ns;
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
  peer.congestion.on_loss(found, send.in_flight(), peer.rtt.smoothed_ns(), now_ns_);
  attend(peer);
}

void Lane::mark_lost(SendFlow& send, uint32_t sequence) noexcept {
  SendWindow& window = windows_[send.window];
  if (window.slot[sequence % kWindowFramesMax] == kNoIndex) return;
  uint64_t& lost = window.lost[(sequence % kWindowFramesMax) / 64];
  const uint64_t bit = uint64_t{1} << (sequence % 64);
  if (!(lost & bit)) ++send.lost;
  lost |= bit;
}

void Lane::set_timer(uint64_t at_ns) noexcept { next_timer_ns_ = std::min(next_timer_ns_, at_ns); }

/// Frames that post() sent since the last poll bear the time of that poll. If that was long ago,
/// the client computed meanwhile, and they are younger than that: give them their timeout from now.
/// The odd nanosecond marks them as done, or a client that posts before each poll would put off the
/// timeout for ever.
void Lane::restamp_posted() noexcept {
  for (uint32_t i = 0; i < active_count_; ++i) {
    const SendWindow& window = windows_[active_windows_[i]];
    Peer& peer = peers_[window.peer];
    SendFlow& send = peer.send[static_cast<size_t>(window.flow)];
    for (uint32_t s = send.next; s != send.una; --s) {
      const Index index = window.slot[(s - 1) % kWindowFramesMax];
      if (index == kNoIndex) continue;
      if (slots_[index].sent_ns != previous_ns_) break;
      slots_[index].sent_ns = now_ns_ + 1;
      if (s - 1 == send.una && send.rto_at_ns != 0) {
        send.rto_at_ns = now_ns_ + peer.rtt.backed_off_ns(rto_limits_, send.timeouts, random_);
        set_timer(send.rto_at_ns);
      }
    }
  }
}

void Lane::run_timers() noexcept {
  // More frames wait in the port, or nobody polled for long: first see what came meanwhile.
  if (now_ns_ < next_timer_ns_ || rx_more_) return;
  if (now_ns_ == absent_until_ns_ && !timers_skipped_) {
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
}

void Lane::run_flow_timer(Peer& peer, Flow flow) noexcept {
  SendFlow& send = peer.send[static_cast<size_t>(flow)];
  if (send.reorder_at_ns != 0 && now_ns_ >= send.reorder_at_ns) find_lost(peer, flow, 0);
  if (send.una == send.unsent) send.rto_at_ns = 0;
  if (send.rto_at_ns != 0 && now_ns_ >= send.rto_at_ns) {
    if (peer_silent(peer)) {
      give_up(peer);
      return;
    }
    counters_.add(Count::kTimeouts);
    if (send.timeouts < 0xff) ++send.timeouts;
    mark_lost(send, send.una);
    if (send.timeouts > 1) {
      // The first repetition, or its acknowledgement, was lost, too: this path loses much. A few at
      // once have a better chance.
      peer.congestion.on_repeated_timeout();
      const uint32_t few = std::min(send.unsent - send.una, CongestionWindow::kFloorFrames);
      for (uint32_t i = 1; i < few; ++i) mark_lost(send, send.una + i);
    }
    attend(peer);
    send.rto_at_ns = now_ns_ + peer.rtt.backed_off_ns(rto_limits_, send.timeouts, random_);
  }
  if (send.reorder_at_ns != 0) set_timer(send.reorder_at_ns);
  if (send.rto_at_ns != 0) set_timer(send.rto_at_ns);
}

bool Lane::peer_silent(Peer& peer) noexcept {
  const uint64_t since_ns = std::max(peer.last_heard_ns, peer.waiting_since_ns);
  if (now_ns_ < since_ns || now_ns_ - since_ns < nic_.config.peer_timeout_ns) return false;
  const bool heard = peer.last_heard_ns != 0;
  nic_.failure.record(
      rank_of(peer), WorkStatus::kUnreachable,
      "rank %u did not answer rank %u for %.1f s on lane %u (%s): it died, or the network "
      "between them is down",
      rank_of(peer), nic_.info.rank, static_cast<double>(now_ns_ - since_ns) * 1e-9, index_,
      heard ? "it had answered before" : "it never answered");
  return true;
}

/// Ends everything that waits for a peer that is gone.
void Lane::give_up(Peer& peer) noexcept {
  const Rank rank = rank_of(peer);
  for (uint32_t f = 0; f < kFlows; ++f) {
    SendFlow& send = peer.send[f];
    send.ops = IndexList{};
    if (send.window == kNoIndex) continue;
    for (uint32_t s = send.una; s != send.next; ++s) {
      const Index index = windows_[send.window].slot[s % kWindowFramesMax];
      if (index != kNoIndex) release_slot(slots_[index], index);
    }
    send.una = send.unsent = send.next;
    send.sacked = send.lost = 0;
    close_window(peer, static_cast<Flow>(f));
  }
  while (!peer.responses.empty()) responses_.give(peer.responses.pop(responses_));
  for (uint32_t i = 0; i < ops_.size(); ++i) {
    const auto index = static_cast<Index>(i);
    if (ops_[index].state == OpState::kActive && ops_[index].work.peer == rank) {
      finish_op(index, WorkStatus::kUnreachable);
    }
  }
  peer.dead = true;
}

}  // namespace pinwire

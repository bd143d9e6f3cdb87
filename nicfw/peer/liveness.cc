#include "nicfw/peer/liveness.h"

namespace pinwire {

/// Questions for responses go as often as a silent peer is asked for its acknowledgements, and
/// often enough that silence counts when its time is up.
void Liveness::make(uint64_t limit_ns) noexcept {
  constexpr uint64_t kLongestNs = 1'000'000'000;
  check(watch_ns_ == 0, "the watch runs already", watch_ns_);
  limit_ns_ = limit_ns;
  if (limit_ns == 0) return;
  pause_ns_ = std::clamp<uint64_t>(limit_ns / (2 * kQuestionsMin), 1, kLongestNs);
}

bool Liveness::is_silent(const Peer& peer) const noexcept {
  if (limit_ns_ == 0) return false;
  return silent_ns(peer) >= limit_ns_ && peer.timeouts_unheard >= kQuestionsMin;
}

uint64_t Liveness::await_responses(uint64_t now_ns) noexcept {
  due_ns_ = now_ns + pause_ns_;
  return due_ns();
}

bool Liveness::is_due(uint64_t now_ns) noexcept {
  if (now_ns < due_ns()) return false;
  due_ns_ = now_ns + pause_ns_;
  return true;
}

bool Liveness::is_late(const Peer& peer) const noexcept {
  dcheck(pause_ns_ != 0, "a peer that is never given up is asked", peer.timeouts_unheard);
  if (frames_in_flight(peer) != 0 || peer.ack_now) return false;
  return silent_ns(peer) >= pause_ns_;
}

Liveness::Presence Liveness::seek(Peer& peer, uint64_t now_ns) const noexcept {
  constexpr uint32_t kFirstUs = 64;
  constexpr uint32_t kDoublingsMax = 14;
  constexpr uint32_t kLongestUs = kFirstUs << kDoublingsMax;
  constexpr uint32_t kForgottenUs = 4 * kLongestUs;
  if (frames_in_flight(peer) != 0) return Presence::kWait;  // they ask by themselves
  const auto now_us = static_cast<uint32_t>(now_ns / 1'000);
  // The clock wraps in 71 minutes: a time further ahead than any pause is one of long ago.
  const uint32_t pause_us = peer.presence_at_us - now_us;
  if (peer.presence_asks != 0 && pause_us != 0 && pause_us <= kLongestUs) return Presence::kWait;
  if (now_us - peer.presence_at_us > kForgottenUs) peer.presence_asks = 0;
  if (peer.presence_asks == 0) {
    start_watch(peer);
  } else if (is_silent(peer)) {
    return Presence::kGone;
  }
  dcheck(peer.presence_asks <= kDoublingsMax, "a peer is asked too rarely", peer.presence_asks);
  peer.presence_at_us = now_us + (kFirstUs << peer.presence_asks);
  if (peer.presence_asks < kDoublingsMax) ++peer.presence_asks;
  return Presence::kAsk;
}

}  // namespace pinwire

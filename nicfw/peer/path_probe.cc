#include "nicfw/peer/path_probe.h"

#include <algorithm>

#include "core/base/check.h"

namespace pinwire {
namespace {

constexpr uint8_t kNarrowPairs = 2;  ///< pairs half answered, after which an open path is narrow
constexpr uint8_t kHolePairs = 10;   ///< after which the user hears of it
/// A switch without room for long frames may have some for short ones: while those are lost, too,
/// and for so long after, half an answer tells next to nothing, and pairs go a while apart.
constexpr uint32_t kCongestedUs = 50'000;
/// Short frames that are lost at once, and then no more for a while, may be chance, or overtaken.
constexpr uint32_t kLostOnceUs = 5'000, kApartUs = 1'000;
constexpr uint64_t kCongestedApartNs = 10'000'000, kApartNs = uint64_t{kApartUs} * 1'000;
constexpr uint8_t kCongestedPairs = 100;  ///< as many as tell what a hole's do
constexpr uint8_t kUnheardPairs = 2;      ///< in a row without an answer: the peer may compute
constexpr uint8_t kUnansweredMax = 0xfe;
static_assert(kUnansweredMax % kUnheardPairs == 0);
constexpr uint64_t kDoubtAgainNs = 1'000'000;
constexpr uint64_t kProbeAgainNs = 10'000'000'000;
constexpr uint64_t kUnheardAgainNs = 10'000'000;
constexpr uint32_t kUnheardDoublings = 10;

}  // namespace

void PathProbe::make(const Setup& setup, Host& host, Random& random) {
  check(setup.path_bytes <= UINT16_MAX, "a peer cannot keep such a length", setup.path_bytes);
  setup_ = setup;
  host_ = &host;
  random_ = &random;
  probed_.make(setup.ranks, setup.first);
}

void PathProbe::start(Peer& peer) const noexcept {
  check(peer.frame_bytes_max != 0, "a path begins before its ends are known", rank_of(peer));
  peer.path_bytes = is_sure(peer) ? peer.frame_bytes_max : static_cast<uint16_t>(setup_.path_bytes);
}

bool PathProbe::want(Peer& peer, uint64_t now_ns) noexcept {
  if (is_sure(peer) || peer.is_probing || now_ns < peer.probe_at_ns) return false;
  peer.is_probing = true;
  if (!peer.in_probe_ring) probed_.push(rank_of(peer));
  peer.in_probe_ring = true;
  send_pair(peer, now_ns);
  return true;
}

/// The pair is judged when it should have been answered.
void PathProbe::send_pair(Peer& peer, uint64_t now_ns) noexcept {
  check(peer.is_probing && peer.in_probe_ring, "nobody would judge the probes", rank_of(peer));
  peer.small_answered = peer.pair_refused = false;
  peer.probe_at_ns =
      now_ns + peer.rtt.backed_off_ns(setup_.timeout_limits, peer.unanswered, *random_);
  host_->send_probe(peer, setup_.path_bytes);
  host_->send_probe(peer, peer.frame_bytes_max);
}

void PathProbe::take_answer(Peer& peer, uint32_t bytes, uint64_t now_ns) noexcept {
  if (is_sure(peer)) return;  // nobody asked
  peer.unanswered = 0;
  if (bytes != peer.frame_bytes_max) {
    if (peer.is_probing) {
      peer.small_answered = true;
    } else if (!peer.has_hole) {  // late: behind other frames, or the peer has computed
      take_half_answer(peer, now_ns);
      peer.probe_at_ns = now_ns;
    }
    return;
  }
  peer.half_answered = 0;
  peer.path_bytes = peer.frame_bytes_max;
  peer.has_hole = false;
  end(peer, now_ns + kDoubtAgainNs);
}

void PathProbe::note_loss(Peer& peer, uint32_t frame_bytes, uint64_t now_ns) const noexcept {
  if (!is_short(peer, frame_bytes)) return;
  const auto now_us = static_cast<uint32_t>(now_ns / 1'000);
  const uint32_t since_us = now_us - peer.short_lost_us;
  peer.loses_short = is_congested(peer, now_ns) && (peer.loses_short || since_us >= kApartUs);
  peer.short_lost_us = now_us;
}

[[gnu::cold, gnu::noinline]] void PathProbe::retract_loss(Peer& peer,
                                                          uint32_t frame_bytes) const noexcept {
  if (is_short(peer, frame_bytes)) peer.short_lost_us = 0;
}

[[gnu::cold, gnu::noinline]] void PathProbe::dispel_doubts(Peer& peer,
                                                           uint32_t frame_bytes) const noexcept {
  if (!is_short(peer, frame_bytes)) peer.half_answered = 0;
}

bool PathProbe::is_congested(const Peer& peer, uint64_t now_ns) noexcept {
  const uint32_t since_us = static_cast<uint32_t>(now_ns / 1'000) - peer.short_lost_us;
  return peer.short_lost_us != 0 && since_us < (peer.loses_short ? kCongestedUs : kLostOnceUs);
}

/// The peer answered only the short probe of a pair.
void PathProbe::take_half_answer(Peer& peer, uint64_t now_ns) noexcept {
  if (is_congested(peer, now_ns) && peer.congested_pairs < kCongestedPairs) return;
  if (peer.half_answered < 0xff) ++peer.half_answered;
  if (is_narrow(peer) || peer.half_answered < kNarrowPairs) return;
  peer.path_bytes = static_cast<uint16_t>(setup_.path_bytes);
  check(is_narrow(peer), "a path without long frames became narrow", peer.frame_bytes_max);
  host_->path_narrowed(peer);
}

uint64_t PathProbe::run(uint64_t now_ns) noexcept {
  uint64_t next_ns = ~uint64_t{0};
  for (uint32_t left = probed_.size(); left > 0; --left) {
    const Rank rank = probed_.pop();
    Peer& peer = setup_.peers[rank];
    check(peer.in_probe_ring, "a path that is not probed is judged", rank);
    const bool goes_on = peer.is_probing && !peer.dead;
    if (goes_on && now_ns >= peer.probe_at_ns) judge_pair(peer, now_ns);
    peer.in_probe_ring = peer.is_probing && !peer.dead;
    if (!peer.in_probe_ring) continue;
    probed_.push(rank);
    next_ns = std::min(next_ns, peer.probe_at_ns);
  }
  return next_ns;
}

void PathProbe::judge_pair(Peer& peer, uint64_t now_ns) noexcept {
  // On an open path the long frames that were lost speak for a long probe that did not go.
  const bool speaks = peer.small_answered && !is_narrow(peer);
  if (peer.pair_refused && !speaks) return send_pair(peer, now_ns);
  if (!peer.small_answered) {
    if (peer.unanswered < kUnansweredMax) ++peer.unanswered;
    if (peer.unanswered % kUnheardPairs != 0) return send_pair(peer, now_ns);
    const uint32_t doublings = peer.unanswered / kUnheardPairs - 1u;
    return end(peer, now_ns + (kUnheardAgainNs << std::min(doublings, kUnheardDoublings)));
  }
  if (is_congested(peer, now_ns) && ++peer.congested_pairs < kCongestedPairs) {
    send_pair(peer, now_ns);
    const uint64_t apart_ns = peer.loses_short ? kCongestedApartNs : kApartNs;
    peer.probe_at_ns = std::max(peer.probe_at_ns, now_ns + apart_ns);
    return;
  }
  take_half_answer(peer, now_ns);
  if (peer.half_answered < kHolePairs && !peer.has_hole) return send_pair(peer, now_ns);
  if (!peer.has_hole) {
    peer.has_hole = true;
    host_->path_has_hole(peer);
  }
  if (!is_narrow(peer)) return send_pair(peer, now_ns);
  end(peer, now_ns + kProbeAgainNs);
}

void PathProbe::end(Peer& peer, uint64_t again_at_ns) noexcept {
  peer.congested_pairs = 0;
  peer.is_probing = false;
  peer.probe_at_ns = again_at_ns;
}

}  // namespace pinwire

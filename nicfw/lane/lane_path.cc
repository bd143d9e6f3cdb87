// Which frames the path to a peer carries. The ports at its ends say what they carry; a switch or
// an interface between them may carry less, and drops longer frames without a word.
//
// Until a frame of full size has arrived, longer frames than every path carries (path_bytes of
// NicConfig) go in pieces, and puts and gets are cut so that they need none. The first longer frame
// that the client wants sends a pair of probes: a frame of full size, and one that every path
// carries. The answer to the former opens the path. If only the latter is answered, a few times in
// a row, the path is narrow: the user hears it once. If neither is, the peer computes, and nothing
// is learnt. A narrow path is probed again when longer frames are wanted later, as is an open one
// on which a longer frame was lost twice: it becomes narrow if those are lost again. Nothing but
// the pieces depends on the result, so that a wrong one costs time and no more.
#include "nicfw/lane/lane.h"

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

void Lane::start_path(Peer& peer) noexcept {
  const bool is_sure =
      nic_.facts.stays_inside_host() || peer.frame_bytes_max <= nic_.config.path_bytes;
  peer.path_bytes = is_sure ? peer.frame_bytes_max : static_cast<uint16_t>(nic_.config.path_bytes);
}

/// A longer frame is wanted than the path is known to carry, or one was lost again on an open path.
/// Inside one host every path is open.
[[gnu::cold]] void Lane::want_wide(Peer& peer) noexcept {
  if (nic_.facts.stays_inside_host()) return;
  if (!peer.is_probing && now_ns_ >= peer.probe_at_ns) begin_probing(peer);
}

void Lane::begin_probing(Peer& peer) noexcept {
  dcheck(!peer.is_probing, "a path is probed twice at once", rank_of(peer));
  peer.is_probing = true;
  if (!peer.in_probe_ring) probing_.push(rank_of(peer));
  peer.in_probe_ring = true;
  probe(peer);
}

/// Sends a pair, and looks again when it should have been answered.
void Lane::probe(Peer& peer) noexcept {
  peer.small_answered = peer.pair_refused = false;
  peer.probe_at_ns = now_ns_ + peer.rtt.backed_off_ns(rto_limits_, peer.unanswered, random_);
  set_timer(peer.probe_at_ns);  // which run_probes() does for the pairs that follow
  stage_probe(peer, nic_.config.path_bytes);
  stage_probe(peer, peer.frame_bytes_max);
}

void Lane::stage_probe(Peer& peer, uint32_t frame_bytes) noexcept {
  std::byte* frame = ack_frames_.get() + size_t{staged_count_} * kAckFrameBytes;
  FrameHeader header;
  header.kind = FrameKind::kProbe;
  header.record_bytes = static_cast<uint16_t>(frame_bytes - kRecordsOffset);
  counters_.add(Count::kPathProbes);
  stage_whole(peer, frame, header, kZeroBytes, {rank_of(peer), 0, Flow::kRequest, Staged::kProbe});
}

/// The next acknowledgement tells the longest probe that arrived since the last one.
void Lane::take_probe(Peer& peer, const FrameHeader& header) noexcept {
  peer.probed_bytes =
      std::max(peer.probed_bytes, static_cast<uint16_t>(kRecordsOffset + header.record_bytes));
  peer.ack_now = true;
  attend(peer);
}

/// The peer got a probe of so many bytes.
void Lane::take_probe_answer(Peer& peer, uint32_t bytes) noexcept {
  peer.unanswered = 0;
  if (bytes != peer.frame_bytes_max) {
    if (peer.is_probing) {
      peer.small_answered = true;
    } else if (!peer.has_hole) {  // late: behind other frames, or the peer has computed
      take_half_answer(peer);
      peer.probe_at_ns = now_ns_;
    }
    return;
  }
  peer.half_answered = peer.congested_pairs = 0;
  peer.path_bytes = peer.frame_bytes_max;
  peer.is_probing = peer.has_hole = false;
  peer.probe_at_ns = now_ns_ + kDoubtAgainNs;
}

/// A frame was lost that every path carries, or the pieces of a longer one.
void Lane::note_loss(Peer& peer, const SendSlot& slot) noexcept {
  if (slot.frame_bytes() > nic_.config.path_bytes && !is_narrow(peer)) return;
  const auto now_us = static_cast<uint32_t>(now_ns_ / 1'000);
  const uint32_t since_us = now_us - peer.short_lost_us;
  peer.loses_short = is_congested(peer) && (peer.loses_short || since_us >= kApartUs);
  peer.short_lost_us = now_us;
}

/// A frame that counted as lost had only been overtaken: its first copy has arrived.
[[gnu::cold, gnu::noinline]] void Lane::retract_loss(Peer& peer, const SendSlot& slot) noexcept {
  if (slot.frame_bytes() <= nic_.config.path_bytes || is_narrow(peer)) peer.short_lost_us = 0;
}

/// A long frame has arrived: whatever became of probes, the path carries such.
[[gnu::cold, gnu::noinline]] void Lane::dispel_doubts(Peer& peer, const SendSlot& slot) noexcept {
  if (slot.frame_bytes() > nic_.config.path_bytes && !is_narrow(peer)) peer.half_answered = 0;
}

bool Lane::is_congested(const Peer& peer) const noexcept {
  const uint32_t since_us = static_cast<uint32_t>(now_ns_ / 1'000) - peer.short_lost_us;
  return peer.short_lost_us != 0 && since_us < (peer.loses_short ? kCongestedUs : kLostOnceUs);
}

/// The peer answered only the short probe of a pair.
void Lane::take_half_answer(Peer& peer) noexcept {
  if (is_congested(peer) && peer.congested_pairs < kCongestedPairs) return;
  if (peer.half_answered < 0xff) ++peer.half_answered;
  if (!is_narrow(peer) && peer.half_answered >= kNarrowPairs) narrow_path(peer);
}

/// Concludes the pairs that should have been answered by now.
void Lane::run_probes() noexcept {
  for (uint32_t left = probing_.size(); left > 0; --left) {
    const Rank rank = probing_.pop();
    Peer& peer = peers_[rank];
    const bool goes_on = peer.is_probing && !peer.dead;
    if (goes_on && now_ns_ >= peer.probe_at_ns) conclude_pair(peer);
    peer.in_probe_ring = peer.is_probing && !peer.dead;
    if (!peer.in_probe_ring) continue;
    probing_.push(rank);
    set_timer(peer.probe_at_ns);
  }
}

void Lane::conclude_pair(Peer& peer) noexcept {
  // On an open path the long frames that were lost speak for a long probe that did not go.
  const bool speaks = peer.small_answered && !is_narrow(peer);
  if (peer.pair_refused && !speaks) return probe(peer);
  if (!peer.small_answered) {
    if (peer.unanswered < kUnansweredMax) ++peer.unanswered;
    if (peer.unanswered % kUnheardPairs != 0) return probe(peer);
    const uint32_t doublings = peer.unanswered / kUnheardPairs - 1u;
    return end_probing(peer, kUnheardAgainNs << std::min(doublings, kUnheardDoublings));
  }
  if (is_congested(peer) && ++peer.congested_pairs < kCongestedPairs) {
    probe(peer);
    const uint64_t apart_ns = peer.loses_short ? kCongestedApartNs : kApartNs;
    peer.probe_at_ns = std::max(peer.probe_at_ns, now_ns_ + apart_ns);
    return;
  }
  take_half_answer(peer);
  if (peer.half_answered < kHolePairs && !peer.has_hole) return probe(peer);
  if (!peer.has_hole) tell_of_hole(peer);
  if (!is_narrow(peer)) return probe(peer);
  end_probing(peer, kProbeAgainNs);
}

void Lane::end_probing(Peer& peer, uint64_t pause_ns) noexcept {
  peer.congested_pairs = 0;
  peer.is_probing = false;
  peer.probe_at_ns = now_ns_ + pause_ns;
}

/// From now on long frames go in pieces, those first that were lost.
void Lane::narrow_path(Peer& peer) noexcept {
  dcheck(nic_.config.path_bytes < peer.frame_bytes_max, "a path without long frames is narrow",
         peer.frame_bytes_max);
  peer.path_bytes = static_cast<uint16_t>(nic_.config.path_bytes);
  for (SendFlow& send : peer.send) {
    if (send.window == kNoIndex) continue;
    for (uint32_t s = send.una; s != send.unsent; ++s) {
      const Index index = windows_[send.window].slot[s % kWindowFramesMax];
      if (index == kNoIndex) continue;
      const SendSlot& slot = slots_[index];
      const bool is_long = slot.frame_bytes() > peer.path_bytes;
      if (is_long && slot.sent_ns + peer.rtt.smoothed_ns() <= now_ns_) mark_lost(send, s);
    }
  }
  attend(peer);
}

void Lane::tell_of_hole(Peer& peer) noexcept {
  peer.has_hole = true;
  counters_.add(Count::kPathHoles);
  if (nic_.config.notices == nullptr) return;
  if (nic_.told_of_hole.exchange(true, std::memory_order_relaxed)) return;
  char sentence[400];
  std::snprintf(
      sentence, sizeof sentence,
      "frames of %u bytes from rank %u do not reach rank %u, but frames of %u bytes do: a part of "
      "the network between them carries less than the ports at both ends. Longer messages now go "
      "in pieces, which takes more time. Give every part of the network an MTU of %u, or set "
      "GASNET_DPDK_MTU=%u for all ranks",
      static_cast<unsigned>(peer.frame_bytes_max), nic_.info.rank, rank_of(peer),
      nic_.config.path_bytes, peer.frame_bytes_max - 14u, nic_.config.path_bytes - 14);
  nic_.config.notices->say(sentence);
}

}  // namespace pinwire

// Credit for requests, as a sender uses it: how many more request frames it may build. The receiver
// gives it (request_credit.h).
#include "core/base/bits.h"
#include "nicfw/lane/lane.h"

namespace pinwire {
namespace {

/// A sender that builds no request for so long keeps its first credit only.
constexpr uint64_t kForgetNs = 2'000'000;
/// Questions for credit before a frame is sent without any.
constexpr uint8_t kAsksBeforeProbe = 8;

}  // namespace

/// May one more frame with request messages be built?
bool Lane::credit_allows(Peer& peer, Flow flow) noexcept {
  if (flow != Flow::kRequest) return true;
  const bool quiet = peer.send[static_cast<size_t>(flow)].in_flight() == 0;
  if (quiet && now_ns_ > peer.credit_used_ns + kForgetNs) {
    const uint32_t kept = peer.requests_built + peer.first_credit;
    if (seq_before(kept, peer.request_limit)) peer.request_limit = kept;
  }
  if (copying_ || seq_before(peer.requests_built, peer.request_limit)) {
    peer.credit_used_ns = now_ns_;
    return true;
  }
  counters_.add(Count::kCreditStalls);
  if (quiet) return ask_for_credit(peer);
  peer.credit_probe_at_ns = 0;
  return false;
}

/// Nothing is in flight that would bring credit, so what the receiver said may have been lost: it
/// is asked again, more and more rarely. True: the last resort, a frame without credit.
bool Lane::ask_for_credit(Peer& peer) noexcept {
  if (peer.credit_probe_at_ns == 0) peer.credit_asks = 0;
  if (peer.credit_probe_at_ns != 0 && now_ns_ < peer.credit_probe_at_ns) return false;
  const bool first = peer.credit_probe_at_ns == 0;
  peer.credit_probe_at_ns =
      now_ns_ + peer.rtt.backed_off_ns(rto_limits_, peer.credit_asks, random_);
  if (first) return false;
  counters_.add(Count::kCreditProbes);
  if (++peer.credit_asks >= kAsksBeforeProbe) {
    peer.credit_probe_at_ns = 0;
    return true;
  }
  ask(peer);
  return false;
}

/// The newest frame of the peer may also say that there is less. The word of an older one is past.
void Lane::take_credit(Peer& peer, uint16_t credit, bool is_newest) noexcept {
  const auto ahead = static_cast<int16_t>(credit - static_cast<uint16_t>(peer.request_limit));
  if (ahead == 0 || !is_newest) return;
  peer.request_limit += static_cast<uint32_t>(int32_t{ahead});
  if (ahead < 0) return;
  peer.credit_used_ns = now_ns_;
  peer.credit_probe_at_ns = 0;
  attend(peer);
}

/// After an absence of this rank requests may still wait in the port, but not for longer than it
/// takes to empty a port that holds all buffers.
RequestCredit::Moment Lane::credit_moment() const noexcept {
  return {now_ns_, rx_more_ && full_polls_ <= messages_.rx_buffers() / kBurst};
}

void Lane::feed_hungry() noexcept {
  credit_.feed(credit_moment(), [this](Peer& peer) noexcept {
    peer.ack_now = true;
    attend(peer);
  });
}

}  // namespace pinwire

// How the flows of a lane share one of its pools (send slots, large buffers, operations,
// responses).
//
// A peer that computes for a minute acknowledges nothing and so gives nothing back. It must not
// take the pool from the peers that answer, however many such peers there are and whatever was
// posted to them. A holder is a flow of one peer (for responses: a peer). The pool has two parts:
//  - Own items. Each of up to `holders` holders has `own` items that no other holder can take. The
//    pool counts how many of all own items are free (own_left()), and a holder takes a shared item
//    only if that many stay free behind it. Invariant: available >= own_left() >= what the holders
//    have left of their own items. Each take and each give changes both sides by the same amount,
//    or leaves own_left() alone and was checked. A holder therefore always finds its own items: no
//    other flow, reply or request, silent or not, can prevent it. That is why a flow with nothing
//    under way always gets its next frame, and why a reply to a peer that polls goes (lane.h,
//    points 4, 7).
//  - Shared items, for throughput. A holder may take more of them only while it holds fewer shared
//    items than are free (dynamic thresholds, Choudhury and Hahne, IEEE/ACM Transactions on
//    Networking 1998): one silent holder ends with half of them. `replies` of them go to replies
//    only; what replies hold of the shared items counts towards that reserve, so that replies that
//    nobody acknowledges take it from the replies and not a second time from the requests.
//
// A copied put is taken as a whole or not at all, so it may want more than its holder's own items
// at once. `whole` shared items are kept for that: only a copied put takes them, only for a flow
// that holds no shared item, and only if its peer was heard lately (Liveness::is_attentive()). A peer
// that is silent already can therefore never hold one of them. A peer that falls silent while it
// holds some keeps them, as bounded memory cannot prevent: if `n` peers do that, and each with the
// largest copied put, then the shared items are gone when n * window / 2 exceeds them, and copied
// puts of more than own items wait. Own items remain, so a copied put of one frame, and everything
// that does not need several frames at once, is never concerned.
//
// A job with more ranks than `holders` counts shares the own items among the flows that are active
// at the same time: the statements above hold while those are no more than `holders`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire {

struct PoolReserve {
  uint32_t holders = 0;  ///< flows (or peers) that have items of their own
  uint32_t own = 1;      ///< items that each of them has
  uint32_t replies = 0;  ///< shared items that only replies may take
  uint32_t whole = 0;    ///< shared items that only copied puts to attentive peers may take

  /// Items that the pool needs in addition to those that all flows may share.
  constexpr uint32_t items() const noexcept { return holders * own + whole; }
};

/// Ranks for which every pool keeps own items.
inline constexpr uint32_t kIdleHoldersMax = 1024;
/// The same for large buffers, which cost a frame's memory each.
inline constexpr uint32_t kIdleBufferHoldersMax = 256;

/// The accounts of one pool. The pool itself says how many items are `available`, and each holder
/// how many it has `held`.
class PoolShare {
 public:
  constexpr PoolShare() noexcept = default;
  constexpr explicit PoolShare(const PoolReserve& reserve) noexcept
      : reserve_(reserve), own_all_(reserve.holders * reserve.own) {}

  /// May the holder take `wanted` more?
  constexpr bool allows(uint32_t held, uint32_t wanted, uint32_t available,
                        bool is_reply) const noexcept {
    if (is_own(held, wanted)) return true;
    const uint32_t kept =
        replies_left(is_reply) + (held + wanted <= reserve_.own ? 0 : reserve_.whole);
    const uint32_t shared = shared_left(available);
    return shared > kept && beyond_own(held, wanted) <= shared - kept &&
           from_shared(held, wanted) <= shared - kept;
  }

  /// The same for a copied put, of which `wanted` items are all that it needs, to a peer that is
  /// attentive. It may take what is kept for this.
  constexpr bool allows_whole(uint32_t held, uint32_t wanted, uint32_t available,
                              bool is_reply) const noexcept {
    if (allows(held, wanted, available, is_reply)) return true;
    return held <= reserve_.own &&
           shared_left(available) >= from_shared(held, wanted) + replies_left(is_reply);
  }

  /// Items that are free and that no holder has for itself.
  constexpr uint32_t shared_left(uint32_t available) const noexcept {
    return available > own_left() ? available - own_left() : 0;
  }

  /// The holder took one item, and had `held` before.
  void took(uint32_t held, bool is_reply) noexcept {
    if (held < reserve_.own) {
      ++own_used_;
    } else if (is_reply) {
      ++replies_used_;
    }
  }
  /// The holder gave one item back, and has `held` left.
  void gave(uint32_t held, bool is_reply) noexcept {
    if (held < reserve_.own) {
      dcheck(own_used_ > 0, "an own item that was not counted", held);
      --own_used_;
    } else if (is_reply) {
      dcheck(replies_used_ > 0, "a reply's item that was not counted", held);
      --replies_used_;
    }
  }

 private:
  constexpr uint32_t own_left() const noexcept {
    return own_all_ > own_used_ ? own_all_ - own_used_ : 0;
  }
  constexpr bool is_own(uint32_t held, uint32_t wanted) const noexcept {
    return held + wanted <= reserve_.own && own_left() >= wanted;
  }
  constexpr uint32_t replies_left(bool is_reply) const noexcept {
    return is_reply || reserve_.replies <= replies_used_ ? 0 : reserve_.replies - replies_used_;
  }
  /// How many shared items the holder has after it took `wanted`; of its first items, in a job with
  /// too many ranks, as many as it takes now.
  constexpr uint32_t beyond_own(uint32_t held, uint32_t wanted) const noexcept {
    const uint32_t after = held + wanted;
    return after > reserve_.own ? after - reserve_.own : wanted;
  }

  /// How many of `wanted` the shared items must give: in a job with too many ranks others may hold
  /// what would be the holder's own.
  constexpr uint32_t from_shared(uint32_t held, uint32_t wanted) const noexcept {
    const uint32_t own = held < reserve_.own ? reserve_.own - held : 0;
    return wanted - std::min({wanted, own, own_left()});
  }

  PoolReserve reserve_;
  uint32_t own_all_ = 0;
  uint32_t own_used_ = 0;      ///< own items that are held
  uint32_t replies_used_ = 0;  ///< shared items that replies hold
};

}  // namespace pinwire

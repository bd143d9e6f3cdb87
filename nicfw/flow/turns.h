// Operations and responses that wait to be built into the frames of one flow. They form two queues:
// those that need one frame at most, and long ones. The queues build frame by frame in turns, so
// that neither waits for all of the other. A queue takes two bytes, because every peer has eight.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nicfw/pool/index_pool.h"

namespace pinwire {

/// A FIFO list as a ring: the last item links to the first. A pool is an IndexPool, or a class that
/// owns one and gives out its items by `pool[index]`.
struct IndexRing {
  Index last = kNoIndex;

  bool empty() const noexcept { return last == kNoIndex; }
  template <typename Pool>
  Index first(const Pool& pool) const noexcept {
    return pool[last].link;
  }
  template <typename Pool>
  void push(Pool& pool, Index index) noexcept {
    pool[index].link = empty() ? index : first(pool);
    if (!empty()) pool[last].link = index;
    last = index;
  }
  template <typename Pool>
  Index pop(Pool& pool) noexcept {
    const Index index = first(pool);
    if (index == last) {
      last = kNoIndex;
    } else {
      pool[last].link = pool[index].link;
    }
    return index;
  }
};

struct TwoQueues {
  IndexRing shorts;  ///< one frame at most
  IndexRing longs;

  bool empty() const noexcept { return shorts.empty() && longs.empty(); }
  IndexRing& of(bool is_short) noexcept { return is_short ? shorts : longs; }
};

/// The result of an attempt to build the next frame of a queue.
enum class Built : uint8_t {
  kSome,     ///< a frame, or a record of one
  kNoRoom,   ///< the port takes none of this class now
  kNoFrame,  ///< the windows, or the peer's credit, allow none
};

/// Frames that the short ones have built more than the long ones. While the port has no room for
/// long frames it grows up to the limit, and then the short ones wait, too; but it is paid back
/// only down from kLeadPaid.
inline constexpr uint32_t kLeadMax = 31, kLeadPaid = 2;

/// Short ones first, and whenever they are not ahead; records may fill the frame that they opened.
/// Where the windows have no frame for the class whose turn it is, the other one does not take the
/// next. `build(ring)` builds from the ring, and takes out what is complete. Returns the
/// new lead.
template <typename Flow, typename Build>
uint32_t build_in_turns(TwoQueues& queues, uint32_t lead, const Flow& send, Build build) noexcept {
  bool short_has_room = true, long_has_room = true;
  for (;;) {
    const bool has_long = !queues.longs.empty();
    if (!has_long) lead = 0;
    const bool may_short = short_has_room && !queues.shorts.empty() && lead < kLeadMax;
    const bool may_long = long_has_room && has_long;
    if (!may_short && !may_long) return lead;
    const bool fills = send.open && lead < kLeadPaid;
    const bool is_short = may_short && (!may_long || lead == 0 || fills);
    const uint32_t next = send.next;
    const Built built = build(queues.of(is_short));
    if (built == Built::kNoFrame) return lead;
    if (built == Built::kNoRoom) {
      (is_short ? short_has_room : long_has_room) = false;
    } else if (is_short) {
      lead = std::min(lead + (send.next - next), kLeadMax);
    } else {
      lead = std::min(lead, kLeadPaid) - (lead != 0 ? 1 : 0);
    }
  }
}

}  // namespace pinwire

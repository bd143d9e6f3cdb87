#include "extended/coll/algorithms/gather_all.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "extended/coll/messages/mail.h"

namespace pinwire {
namespace {

/// Contributions lie in the scratch from this member's own on, in the order of ranks, which starts
/// anew behind the last.
class Places {
 public:
  explicit Places(const Collective& c) noexcept : c_(c) {}

  Rank rank_at(uint32_t place) const noexcept {
    return static_cast<Rank>((uint64_t{c_.member->rank} + place) % c_.member->size);
  }
  size_t bytes_of(Rank rank) const noexcept {
    return c_.sizes != nullptr ? c_.sizes[rank] : c_.bytes;
  }
  /// Bytes from place `first` on, of `count` of them.
  size_t bytes(uint32_t first, uint32_t count) const noexcept {
    if (c_.sizes == nullptr) return count * c_.bytes;
    size_t sum = 0;
    for (uint32_t place = first; place < first + count; ++place) sum += c_.sizes[rank_at(place)];
    return sum;
  }

 private:
  const Collective& c_;
};

void begin(Collective& c, const Places& places) noexcept {
  std::byte* own = c.workspace->scratch.reserve(places.bytes(0, c.member->size));
  const size_t bytes = places.bytes(0, 1);
  if (bytes != 0) std::memcpy(own, c.src, bytes);
}

void deliver(Collective& c, const Places& places) noexcept {
  const Rank size = c.member->size;
  auto* to = static_cast<std::byte*>(c.dst);
  // Ranks from 0 on lie behind this member's and the higher ones.
  const std::byte* from = c.workspace->scratch.at(places.bytes(0, size - c.member->rank));
  const size_t low = places.bytes(size - c.member->rank, c.member->rank);
  if (low != 0) std::memcpy(to, from, low);
  const size_t high = places.bytes(0, size - c.member->rank);
  dcheck(low + high == places.bytes(0, size), "contributions that are not the whole", low, high);
  if (high != 0) std::memcpy(to + low, c.workspace->scratch.at(0), high);
}

}  // namespace

bool gather_all(Collective& c) noexcept {
  const Places places(c);
  const Member& member = *c.member;
  if (c.phase == 0) {
    begin(c, places);
    c.phase = 1;
  }
  for (; c.round < member.rounds; ++c.round, c.phase = 1) {
    const uint32_t have = 1u << c.round;
    dcheck(have < member.size, "a round after all have come", c.round, member.size);
    const uint32_t count = std::min(have, member.size - have);
    if (c.phase == 1) {
      const Rank to = places.rank_at(member.size - have);
      send_data(c, to, c.round, c.workspace->scratch.at(0), places.bytes(0, count));
      c.phase = 2;
    }
    if (!receive_data(c, places.rank_at(have), c.round,
                      c.workspace->scratch.at(places.bytes(0, have)), places.bytes(have, count))) {
      return false;
    }
  }
  if (c.phase != 3) {
    deliver(c, places);
    c.phase = 3;
  }
  return true;
}

}  // namespace pinwire

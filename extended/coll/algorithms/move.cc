#include "extended/coll/algorithms/move.h"

#include <cstring>

#include "core/base/check.h"
#include "extended/coll/algorithms/phase.h"
#include "extended/coll/algorithms/pipeline.h"
#include "extended/coll/algorithms/tree.h"
#include "extended/coll/messages/mail.h"

namespace pinwire {
namespace {

Tree tree_of(const Collective& c) noexcept { return {c.member->size, c.root, c.member->rank}; }

void copy_bytes(void* to, const void* from, size_t bytes) noexcept {
  if (bytes != 0 && to != from) std::memcpy(to, from, bytes);
}

/// Blocks in the order of places, which begins with the root's, from or to the order of ranks.
template <typename Move>
void by_ranks(const Collective& c, Move&& move) noexcept {
  dcheck(c.root < c.member->size, "a root outside the team", c.root, c.member->size);
  const size_t high = (c.member->size - c.root) * c.bytes;
  const size_t low = c.root * c.bytes;
  move(size_t{0}, low, high);
  move(high, size_t{0}, low);
}

}  // namespace

bool broadcast(Collective& c) noexcept {
  const Tree tree = tree_of(c);
  const void* data = tree.is_root() ? c.src : c.dst;
  if (c.phase == kBegin) {
    if (goes_in_pieces(c.bytes)) [[unlikely]]
      return (c.script = broadcast_in_pieces)(c);
    if (!tree.is_root() && !receive_data(c, tree.parent(), 0, c.dst, c.bytes)) return false;
    // The child with the largest subtree comes first.
    for (uint32_t branch = tree.branches(); branch-- > 0;) {
      send_data(c, tree.child(branch), 0, data, c.bytes);
    }
    if (tree.is_root()) copy_bytes(c.dst, c.src, c.bytes);
    c.phase = kSent;
  }
  return true;
}

bool scatter(Collective& c) noexcept {
  const Tree tree = tree_of(c);
  if (c.phase == kBegin) {
    std::byte* blocks = c.workspace->scratch.reserve(tree.places() * c.bytes);
    if (tree.is_root()) {
      const auto* from = static_cast<const std::byte*>(c.src);
      by_ranks(c, [&](size_t at_place, size_t at_rank, size_t bytes) {
        copy_bytes(blocks + at_place, from + at_rank, bytes);
      });
    }
    c.phase = kReceive;
  }
  if (c.phase == kReceive) {
    if (!tree.is_root() &&
        !receive_data(c, tree.parent(), 0, c.workspace->scratch.at(0), tree.places() * c.bytes)) {
      return false;
    }
    for (uint32_t branch = tree.branches(); branch-- > 0;) {
      send_data(c, tree.child(branch), 0, c.workspace->scratch.at((size_t{1} << branch) * c.bytes),
                tree.places_of_child(branch) * c.bytes);
    }
    copy_bytes(c.dst, c.workspace->scratch.at(0), c.bytes);
    c.phase = kSent;
  }
  return true;
}

bool gather(Collective& c) noexcept {
  const Tree tree = tree_of(c);
  if (c.phase == kBegin) {
    copy_bytes(c.workspace->scratch.reserve(tree.places() * c.bytes), c.src, c.bytes);
    c.phase = kReceive;
  }
  if (c.phase == kReceive) {
    for (const uint32_t branches = tree.branches(); c.round < branches; ++c.round) {
      if (!receive_data(c, tree.child(c.round), c.round,
                        c.workspace->scratch.at((size_t{1} << c.round) * c.bytes),
                        tree.places_of_child(c.round) * c.bytes)) {
        return false;
      }
    }
    if (tree.is_root()) {
      auto* to = static_cast<std::byte*>(c.dst);
      by_ranks(c, [&](size_t at_place, size_t at_rank, size_t bytes) {
        copy_bytes(to + at_rank, c.workspace->scratch.at(at_place), bytes);
      });
    } else {
      send_data(c, tree.parent(), tree.branch(), c.workspace->scratch.at(0),
                tree.places() * c.bytes);
    }
    c.phase = kSent;
  }
  return true;
}

namespace {

/// The scratch of an exchange: blocks by the distance of the member that they are for, or from; and
/// those that leave and come in a round, for which half of all is enough.
class ExchangePlaces {
 public:
  explicit ExchangePlaces(Collective& c) noexcept : c_(c), size_(c.member->size) {}

  std::byte* reserve() noexcept {
    return c_.workspace->scratch.reserve((2 * size_t{size_} + 2) * c_.bytes);
  }
  std::byte* block(uint32_t distance) const noexcept {
    return c_.workspace->scratch.at(distance * c_.bytes);
  }
  std::byte* leaving() const noexcept { return c_.workspace->scratch.at(size_ * c_.bytes); }
  std::byte* coming() const noexcept {
    return c_.workspace->scratch.at((size_t{size_} + size_ / 2 + 1) * c_.bytes);
  }
  Rank rank_at(uint64_t distance) const noexcept {
    return static_cast<Rank>((c_.member->rank + distance) % size_);
  }

  /// Calls `move(block, place)` for each block that moves in this round; returns how many.
  template <typename Move>
  size_t for_round(uint32_t round, Move&& move) const noexcept {
    size_t place = 0;
    for (uint32_t distance = 0; distance < size_; ++distance) {
      if ((distance >> round & 1) != 0) move(block(distance), place++ * c_.bytes);
    }
    return place;
  }

 private:
  Collective& c_;
  const Rank size_;
};

}  // namespace

bool exchange(Collective& c) noexcept {
  ExchangePlaces places(c);
  const Rank size = c.member->size;
  const size_t bytes = c.bytes;
  if (c.phase == kBegin) {
    places.reserve();
    const auto* from = static_cast<const std::byte*>(c.src);
    for (Rank d = 0; d < size; ++d)
      copy_bytes(places.block(d), from + places.rank_at(d) * bytes, bytes);
    c.phase = kSend;
  }
  for (; c.round < c.member->rounds; ++c.round, c.phase = kSend) {
    const uint64_t step = uint64_t{1} << c.round;
    if (c.phase == kSend) {
      if (!all_taken(c)) return false;  // of the round before
      const size_t count = places.for_round(c.round, [&](const std::byte* block, size_t at) {
        copy_bytes(places.leaving() + at, block, bytes);
      });
      dcheck(count <= size / 2 + 1, "more blocks leave than there is room for", count, size);
      send_data(c, places.rank_at(step), c.round, places.leaving(), count * bytes);
      c.phase = kReceive;
    }
    const size_t count = places.for_round(c.round, [](const std::byte*, size_t) {});
    if (!receive_data(c, places.rank_at(size - step), c.round, places.coming(), count * bytes)) {
      return false;
    }
    places.for_round(c.round, [&](std::byte* block, size_t at) {
      copy_bytes(block, places.coming() + at, bytes);
    });
  }
  if (c.phase != kSent) {
    auto* to = static_cast<std::byte*>(c.dst);
    for (Rank d = 0; d < size; ++d)
      copy_bytes(to + places.rank_at(size - d) * bytes, places.block(d), bytes);
    c.phase = kSent;
  }
  return true;
}

}  // namespace pinwire

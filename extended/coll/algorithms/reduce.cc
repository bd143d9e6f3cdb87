#include "extended/coll/algorithms/reduce.h"

#include <bit>
#include <cstring>

#include "core/base/check.h"
#include "extended/coll/algorithms/phase.h"
#include "extended/coll/algorithms/pipeline.h"
#include "extended/coll/algorithms/tree.h"
#include "extended/coll/messages/mail.h"

namespace pinwire {
namespace {

/// The vector that is reduced so far, and the next operand. Each result takes the place of the
/// latter, as user functions want it: in its letter box, or in one of two vectors of the scratch,
/// in turns. The last result goes to `dst`, if this member has a result and sends it to no other.
class Vectors {
 public:
  explicit Vectors(Collective& c) noexcept : c_(c) {}

  size_t bytes() const noexcept { return c_.reduction.element_bytes * c_.reduction.count; }
  void begin() noexcept {
    c_.so_far = c_.workspace->scratch.reserve(2 * bytes());
    std::memcpy(c_.so_far, c_.src, bytes());
  }
  /// Begins at the client's vector, which is only read; for operations that never call add_lower().
  void begin_at_source() noexcept {
    c_.workspace->scratch.reserve(2 * bytes());
    c_.so_far = static_cast<std::byte*>(const_cast<void*>(c_.src));
  }
  std::byte* so_far() const noexcept { return c_.so_far; }
  /// The vector that `from` sent; nullptr: it has not arrived yet.
  std::byte* next(Rank from, uint32_t letter) const noexcept {
    std::byte* first = c_.workspace->scratch.at(0);
    return take_data(c_, from, letter, c_.so_far != first ? first : first + bytes(), bytes());
  }
  /// `next` is of higher ranks.
  void add_higher(std::byte* next, bool is_last) noexcept {
    combine(so_far(), next, is_last ? dst() : next);
  }
  void add_lower(std::byte* next, bool is_last) noexcept {
    combine(next, so_far(), is_last ? dst() : so_far());
  }
  void deliver() const noexcept {
    if (dst() != so_far()) std::memcpy(dst(), so_far(), bytes());
  }

 private:
  std::byte* dst() const noexcept { return static_cast<std::byte*>(c_.dst); }
  void combine(const std::byte* lower, std::byte* higher, std::byte* out) noexcept {
    dcheck(higher != nullptr, "a vector that has not come", c_.round);
    c_.reduction.combine(lower, higher, out, c_.reduction.count);
    c_.so_far = out;
  }

  Collective& c_;
};

/// Reduces towards place 0 of the tree. False: a child's vector has not arrived.
bool reduce_upwards(Collective& c, const Tree& tree, bool ends_here, Vectors& vectors) noexcept {
  for (const uint32_t branches = tree.branches(); c.round < branches; ++c.round) {
    std::byte* next = vectors.next(tree.child(c.round), c.round);
    if (next == nullptr) return false;
    vectors.add_higher(next, ends_here && c.round + 1 == branches);
  }
  return true;
}

}  // namespace

bool reduce_to_one(Collective& c) noexcept {
  const Member& member = *c.member;
  Vectors vectors(c);
  // An operation that does not commute reduces in the order of ranks, and the result goes to the
  // root at last.
  const Rank top = c.reduction.is_ordered ? 0 : c.root;
  const Tree tree(member.size, top, member.rank);
  const uint32_t last_letter = member.rounds;
  if (c.phase == kBegin) {
    if (goes_in_pieces(c.reduction)) [[unlikely]]
      return (c.script = reduce_to_one_in_pieces)(c);
    vectors.begin_at_source();
    c.phase = kCombine;
  }
  if (c.phase == kCombine) {
    if (!reduce_upwards(c, tree, tree.is_root() && c.root == top, vectors)) return false;
    if (!tree.is_root()) {
      send_data(c, tree.parent(), tree.branch(), vectors.so_far(), vectors.bytes());
    } else if (c.root != top) {
      send_data(c, c.root, last_letter, vectors.so_far(), vectors.bytes());
    } else {
      vectors.deliver();
    }
    c.phase = member.rank == c.root && c.root != top ? kAwait : kSent;
  }
  if (c.phase == kAwait) {
    // `dst` may be the source: the arriving result was made of data that was taken from there.
    if (!receive_data(c, top, last_letter, c.dst, vectors.bytes())) return false;
    c.phase = kSent;
  }
  return true;
}

namespace {

/// The largest power of two of the members, and the members beyond it, which are the odd ones of
/// the first pairs.
class Doubling {
 public:
  Doubling(Rank size, Rank rank) noexcept
      : inner_(std::bit_floor(size)), pairs_(size - inner_), rank_(rank) {}

  uint32_t rounds() const noexcept { return static_cast<uint32_t>(std::countr_zero(inner_)); }
  bool is_paired() const noexcept { return rank_ < 2 * pairs_; }
  bool is_beyond() const noexcept { return is_paired() && rank_ % 2 != 0; }
  Rank mate() const noexcept { return rank_ ^ 1; }
  Rank peer(uint32_t round) const noexcept {
    dcheck(round < rounds(), "a round after the last one", round);
    dcheck(!is_beyond(), "a member beyond the pairs doubles", rank_);
    const Rank place = is_paired() ? rank_ / 2 : rank_ - pairs_;
    const Rank other = place ^ (1u << round);
    return other < pairs_ ? 2 * other : other + pairs_;
  }

 private:
  Rank inner_;
  Rank pairs_;
  Rank rank_;
};

/// Combines the vectors of two halves of the members, in each round.
bool double_up(Collective& c, const Doubling& doubling, Vectors& vectors) noexcept {
  for (; c.round < doubling.rounds(); ++c.round, c.phase = kCombine) {
    const Rank peer = doubling.peer(c.round);
    dcheck(peer < c.member->size, "a peer outside the team", peer, c.member->size);
    dcheck(peer != c.member->rank, "a member doubles with itself", peer, c.round);
    const bool is_last = c.round + 1 == doubling.rounds() && !doubling.is_paired();
    if (c.phase == kCombine) {
      if (!all_taken(c)) return false;  // the place of the next may still be read by the last peer
      send_data(c, peer, c.round, vectors.so_far(), vectors.bytes());
      c.phase = kReceive;
    }
    std::byte* next = vectors.next(peer, c.round);
    if (next == nullptr) return false;
    if (peer > c.member->rank) {
      vectors.add_higher(next, is_last);
    } else {
      if (!all_taken(c)) return false;  // the result takes the place of what was sent
      vectors.add_lower(next, is_last);
    }
  }
  return true;
}

}  // namespace

bool reduce_to_all(Collective& c) noexcept {
  const Doubling doubling(c.member->size, c.member->rank);
  Vectors vectors(c);
  const uint32_t first_letter = c.member->rounds;
  const uint32_t last_letter = first_letter + 1;
  if (c.phase == kBegin) {
    if (goes_in_pieces(c.reduction)) [[unlikely]]
      return (c.script = reduce_to_all_in_pieces)(c);
    vectors.begin();
    if (doubling.is_beyond()) {
      send_data(c, doubling.mate(), first_letter, vectors.so_far(), vectors.bytes());
      c.phase = kAwait;
    } else {
      c.phase = doubling.is_paired() ? kFold : kCombine;
    }
  }
  if (c.phase == kFold) {
    std::byte* next = vectors.next(doubling.mate(), first_letter);
    if (next == nullptr) return false;
    vectors.add_higher(next, false);
    c.phase = kCombine;
  }
  if (c.phase == kCombine || c.phase == kReceive) {
    if (!double_up(c, doubling, vectors)) return false;
    if (doubling.is_paired()) {
      send_data(c, doubling.mate(), last_letter, vectors.so_far(), vectors.bytes());
    }
    vectors.deliver();
    c.phase = kSent;
  }
  if (c.phase == kAwait) {
    if (!receive_data(c, doubling.mate(), last_letter, c.dst, vectors.bytes())) return false;
    c.phase = kSent;
  }
  return true;
}

}  // namespace pinwire

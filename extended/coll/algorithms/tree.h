// The binomial tree of the members of a team below a root, which is place 0. Below place p lie the
// places from p on, as many as p's lowest bit says; therefore ranges, and their order, stay whole.
// The members also form a chain, one below the other, for data that goes in many pieces.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "driver/work.h"

namespace pinwire {

class Tree {
 public:
  constexpr Tree(Rank size, Rank root, Rank rank) noexcept
      : size_(size), root_(root), place_(rank >= root ? rank - root : rank + (size - root)) {}

  constexpr uint32_t place() const noexcept { return place_; }
  constexpr bool is_root() const noexcept { return place_ == 0; }
  constexpr Rank rank_at(uint32_t place) const noexcept {
    return place < size_ - root_ ? place + root_ : place - (size_ - root_);
  }
  /// The index of this place among the children of its parent; the root has none.
  constexpr uint32_t branch() const noexcept {
    return static_cast<uint32_t>(std::countr_zero(place_));
  }
  constexpr Rank parent() const noexcept { return rank_at(place_ & (place_ - 1)); }
  /// Branches 0 to branches() - 1 have a child each.
  constexpr uint32_t branches() const noexcept {
    uint32_t count = 0;
    while (has_child(count)) ++count;
    return count;
  }
  constexpr Rank child(uint32_t branch) const noexcept { return rank_at(place_ + (1u << branch)); }
  /// Places below and with this one, or with that child.
  constexpr uint32_t places() const noexcept {
    return is_root() ? size_ : std::min(1u << branch(), size_ - place_);
  }
  constexpr uint32_t places_of_child(uint32_t branch) const noexcept {
    return std::min(1u << branch, size_ - place_ - (1u << branch));
  }

 private:
  constexpr bool has_child(uint32_t branch) const noexcept {
    return (is_root() || branch < this->branch()) && uint64_t{place_} + (1u << branch) < size_;
  }

  Rank size_;
  Rank root_;
  uint32_t place_;
};

/// The neighbours of a member in a tree or chain: the parent that it gets data from, and the
/// children that it sends data to.
class Neighbours {
 public:
  constexpr Neighbours(const Tree& tree, Rank size, bool is_chain) noexcept
      : tree_(tree), size_(size), is_chain_(is_chain) {}

  /// Whether a chain takes no more steps than a tree. A chain takes as many as there are pieces
  /// and, but for two, members; in a tree the root sends each piece to all its children.
  static constexpr bool is_chain_shorter(Rank size, uint32_t pieces) noexcept {
    const auto rounds = static_cast<uint32_t>(std::bit_width(size - 1));
    return size <= 2 || uint64_t{size} - 2 <= uint64_t{pieces} * (rounds - 1);
  }

  constexpr bool is_root() const noexcept { return tree_.is_root(); }
  constexpr uint32_t branch() const noexcept { return is_chain_ ? 0 : tree_.branch(); }
  constexpr Rank parent() const noexcept {
    return is_chain_ ? tree_.rank_at(tree_.place() - 1) : tree_.parent();
  }
  constexpr uint32_t branches() const noexcept {
    return is_chain_ ? (tree_.place() + 1 < size_ ? 1 : 0) : tree_.branches();
  }
  constexpr Rank child(uint32_t branch) const noexcept {
    return is_chain_ ? tree_.rank_at(tree_.place() + 1) : tree_.child(branch);
  }

 private:
  Tree tree_;
  Rank size_;
  bool is_chain_;
};

}  // namespace pinwire

// The binomial tree of the members of a team below a root, who counts as place 0. Below place p lie
// the places from p on, as many as p's lowest bit says; so ranges, and their order, stay whole.
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
  /// Of no root: which child of its parent this is.
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

}  // namespace pinwire

// A strided transfer in its simplest form: levels that are contiguous, or alike, at both ends are
// folded into one, so that a 3-d section that is really 2-d has two levels, and one that is really
// contiguous has none (VIS-033).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire::vis {

/// The bytes from the lowest to past the highest that one end of a box touches, relative to its
/// address there.
struct Span {
  ptrdiff_t lowest = 0;
  ptrdiff_t end = 0;

  size_t bytes() const noexcept { return static_cast<size_t>(end - lowest); }
};

class Box {
 public:
  /// A section of more levels is several boxes (for_each_box()).
  static constexpr size_t kLevelsMax = 16;

  struct Level {
    ptrdiff_t here;  ///< bytes from an element to the next along this level, in this process
    ptrdiff_t there;
    size_t count;
  };

  /// `element_bytes` and all counts are at least 1 (GX-137), `levels` at most kLevelsMax. Strides
  /// of either sign, in any order (GX-136).
  Box(size_t element_bytes, const ptrdiff_t* here, const ptrdiff_t* there, const size_t* count,
      size_t levels) noexcept
      : element_bytes_(element_bytes) {
    check(levels <= kLevelsMax, "more levels than a Box has", levels);
    dcheck(element_bytes != 0, "an element of no bytes");
    for (size_t i = 0; i < levels; ++i) add({here[i], there[i], count[i]});
  }

  /// Contiguous at both ends.
  size_t element_bytes() const noexcept { return element_bytes_; }
  size_t levels() const noexcept { return levels_; }
  const Level& level(size_t i) const noexcept { return level_[i]; }

  Span span_here() const noexcept { return span(&Level::here); }
  Span span_there() const noexcept { return span(&Level::there); }

 private:
  /// As the next outer level.
  void add(const Level& level) noexcept {
    dcheck(level.count != 0, "a level without elements");
    if (level.count == 1) return;
    if (levels_ == 0 && is_next(level.here, element_bytes_) &&
        is_next(level.there, element_bytes_)) {
      element_bytes_ *= level.count;
      return;
    }
    if (levels_ != 0 && continues(level_[levels_ - 1], level)) {
      level_[levels_ - 1].count *= level.count;
      return;
    }
    level_[levels_++] = level;
  }

  static bool is_next(ptrdiff_t stride, size_t bytes) noexcept {
    return stride == static_cast<ptrdiff_t>(bytes);
  }
  /// `outer` goes on where the last element of `inner` was, at both ends.
  static bool continues(const Level& inner, const Level& outer) noexcept {
    const auto count = static_cast<ptrdiff_t>(inner.count);
    return outer.here == inner.here * count && outer.there == inner.there * count;
  }

  Span span(ptrdiff_t Level::*stride) const noexcept {
    Span span{0, static_cast<ptrdiff_t>(element_bytes_)};
    for (size_t i = 0; i < levels_; ++i) {
      const ptrdiff_t reach = level_[i].*stride * static_cast<ptrdiff_t>(level_[i].count - 1);
      (reach < 0 ? span.lowest : span.end) += reach;
    }
    return span;
  }

  size_t element_bytes_;
  size_t levels_ = 0;
  Level level_[kLevelsMax];  // the first levels_ are set
};

/// A walk over a box along its levels from `first` on, the lower ones running faster: the distances
/// of the place where it is from the box's two addresses.
class BoxWalk {
 public:
  explicit BoxWalk(const Box& box, size_t first = 0) noexcept : box_(box), first_(first) {}

  ptrdiff_t here() const noexcept { return here_; }
  ptrdiff_t there() const noexcept { return there_; }
  /// To the next place; false: there is none.
  bool next() noexcept {
    for (size_t i = first_; i < box_.levels(); ++i) {
      const Box::Level& level = box_.level(i);
      if (++place_[i] < level.count) {
        here_ += level.here, there_ += level.there;
        return true;
      }
      const auto back = static_cast<ptrdiff_t>(level.count - 1);
      here_ -= level.here * back, there_ -= level.there * back;
      place_[i] = 0;
    }
    return false;
  }

 private:
  const Box& box_;
  const size_t first_;
  ptrdiff_t here_ = 0, there_ = 0;
  size_t place_[Box::kLevelsMax] = {};
};

/// Calls what(here, there) for each element, with its distances from the box's two addresses.
template <typename What>
void for_each_element(const Box& box, What&& what) noexcept {
  BoxWalk walk(box);
  do what(walk.here(), walk.there());
  while (walk.next());
}

/// The two ends of a section of any number of levels (VIS-032).
struct Section {
  size_t element_bytes;
  const ptrdiff_t* here;  ///< strides of this process's end
  const ptrdiff_t* there;
  const size_t* count;
  size_t levels;
};

/// Calls what(box, here, there) for the boxes that the section consists of, with the distances of
/// each from the section's two addresses.
template <typename What>
void for_each_box(const Section& section, What&& what, ptrdiff_t here = 0,
                  ptrdiff_t there = 0) noexcept {
  if (section.levels <= Box::kLevelsMax) [[likely]] {
    what(Box(section.element_bytes, section.here, section.there, section.count, section.levels),
         here, there);
    return;
  }
  Section inner = section;
  const size_t outer = --inner.levels;
  for (size_t i = 0; i < section.count[outer]; ++i) {
    for_each_box(inner, what, here, there);
    here += section.here[outer], there += section.there[outer];
  }
}

}  // namespace pinwire::vis

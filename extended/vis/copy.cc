#include "extended/vis/copy.h"

namespace pinwire::vis {
namespace {

using Level = Box::Level;

constexpr size_t kInnerLevels = 2;

/// The `level`th from the innermost one; one step of it, if the box has fewer.
Level level_of(const Box& box, size_t level) noexcept {
  return level < box.levels() ? box.level(level) : Level{0, 0, 1};
}

/// The two innermost levels are loops.
template <ptrdiff_t Level::*kTo, ptrdiff_t Level::*kFrom, typename Bytes>
[[gnu::always_inline]] inline void copy_plane(const Level& plane, const Level& row, std::byte* to,
                                              const std::byte* from, Bytes bytes) noexcept {
  const ptrdiff_t to_stride = row.*kTo, from_stride = row.*kFrom;
  const size_t row_count = row.count;
  for (size_t i = 0; i < plane.count; ++i, to += plane.*kTo, from += plane.*kFrom) {
    std::byte* row_to = to;
    const std::byte* row_from = from;
    for (size_t j = 0; j < row_count; ++j, row_to += to_stride, row_from += from_stride) {
      std::memcpy(row_to, row_from, bytes);
    }
  }
}

/// copy(here, there, plane, row, bytes) for each plane.
template <typename Copy>
[[gnu::always_inline]] inline void for_each_plane(const Box& box, Copy&& copy) noexcept {
  const Level row = level_of(box, 0), plane = level_of(box, 1);
  BoxWalk planes(box, kInnerLevels);
  with_size(box.element_bytes(), [&](auto bytes) noexcept {
    do copy(planes.here(), planes.there(), plane, row, bytes);
    while (planes.next());
  });
}

}  // namespace

void copy_to_there(const Box& box, std::byte* there, const std::byte* here) noexcept {
  for_each_plane(box, [&](ptrdiff_t from, ptrdiff_t to, const Level& plane, const Level& row,
                          auto bytes) noexcept {
    copy_plane<&Level::there, &Level::here>(plane, row, there + to, here + from, bytes);
  });
}
void copy_from_there(const Box& box, const std::byte* there, std::byte* here) noexcept {
  for_each_plane(box, [&](ptrdiff_t to, ptrdiff_t from, const Level& plane, const Level& row,
                          auto bytes) noexcept {
    copy_plane<&Level::here, &Level::there>(plane, row, here + to, there + from, bytes);
  });
}

}  // namespace pinwire::vis

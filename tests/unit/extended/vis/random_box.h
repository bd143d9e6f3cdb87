// Boxes of random shape: contiguous, foldable and neither, strides of either sign.
#pragma once

#include <cstddef>

#include "core/base/random.h"
#include "extended/vis/box.h"

namespace pinwire::vis {

struct RandomBox {
  static constexpr size_t kLevels = 4;
  size_t element_bytes = 1;
  size_t levels = 0;
  ptrdiff_t here[kLevels] = {}, there[kLevels] = {};
  size_t count[kLevels] = {};

  Box folded() const noexcept { return {element_bytes, here, there, count, levels}; }
};

/// No two elements overlap at either end.
inline RandomBox draw_box(Random& random) {
  static constexpr size_t kBytes[] = {1, 2, 3, 4, 8, 12, 16, 32, 64, 100, 128};
  RandomBox box;
  box.element_bytes = kBytes[random.below(std::size(kBytes))];
  box.levels = random.below(RandomBox::kLevels + 1);
  auto here = static_cast<ptrdiff_t>(box.element_bytes), there = here;
  for (size_t i = 0; i < box.levels; ++i) {
    here += random.below(2) ? static_cast<ptrdiff_t>(random.below(20)) : 0;
    there += random.below(3) ? 0 : static_cast<ptrdiff_t>(random.below(20));
    const bool is_back = random.below(8) == 0;
    box.here[i] = is_back ? -here : here;
    box.there[i] = random.below(8) == 0 ? -there : there;
    box.count[i] = 1 + random.below(4);
    here *= static_cast<ptrdiff_t>(box.count[i]);
    there *= static_cast<ptrdiff_t>(box.count[i]);
  }
  return box;
}

}  // namespace pinwire::vis

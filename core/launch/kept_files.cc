#include "core/launch/kept_files.h"

#include <linux/close_range.h>
#include <unistd.h>

#include <algorithm>

namespace pinwire::launch {

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 0;
  for (const int one : kept) {
    const auto fd = static_cast<unsigned>(one);
    if (fd > first) ::close_range(first, fd - 1, 0);
    first = fd + 1;
  }
  ::close_range(first, ~0U, 0);
}

}  // namespace pinwire::launch

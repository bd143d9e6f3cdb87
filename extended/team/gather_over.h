// Exchanges of data among all members of a team, while the job runs: blocking, collective over the
// team, in client context; messages are served meanwhile.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "extended/state/objects.h"

namespace pinwire {

/// Every member's bytes, by rank; they may be of different lengths.
std::vector<std::vector<std::byte>> gather_over(gex_TM_t tm, std::span<const std::byte> mine);

/// As many from each; `all` has room for those of all members.
void gather_equal(gex_TM_t tm, const void* mine, size_t bytes, void* all) noexcept;

template <typename T>
std::vector<T> gather_values(gex_TM_t tm, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(tm->size);
  gather_equal(tm, &mine, sizeof mine, all.data());
  return all;
}

/// Returns once all members have called it.
void meet(gex_TM_t tm) noexcept;

}  // namespace pinwire

// One plain value of each rank, traded before any driver is up.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "core/bootstrap/bootstrap.h"

namespace pinwire {

/// Every rank contributes a value of the same type, and gets those of all in rank order. A barrier.
/// Error: one of another size, as ranks of different builds send.
template <typename Value>
Result<std::vector<Value>> gather_values(Bootstrap& bootstrap, const Value& mine) {
  static_assert(std::is_trivially_copyable_v<Value>);
  auto all = bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)));
  if (!all) return all.error();
  std::vector<Value> values(all->size());
  for (Rank rank = 0; rank < all->size(); ++rank) {
    const auto& bytes = (*all)[rank];
    if (bytes.size() != sizeof mine) {
      return error(
          "rank %u sent %zu bytes of facts where %zu were expected; run the same build on every "
          "rank",
          rank, bytes.size(), sizeof mine);
    }
    std::memcpy(&values[rank], bytes.data(), sizeof mine);
  }
  return values;
}

}  // namespace pinwire

// Lists of ranks as users write them: "0,2-4,6"; nothing or "*" is all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pinwire {

class RankSet {
 public:
  /// All ranks.
  RankSet() = default;
  static std::optional<RankSet> parse(std::string_view text);
  bool holds(uint32_t rank) const noexcept;

 private:
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;  // first and last; none: all ranks
};

}  // namespace pinwire

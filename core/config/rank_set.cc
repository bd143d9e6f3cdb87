#include "core/config/rank_set.h"

#include <algorithm>

#include "core/config/number.h"

namespace pinwire {
namespace {

std::optional<uint32_t> parse_rank(std::string_view text) {
  const auto number = parse_whole(text);
  if (!number || *number < 0 || *number > int64_t{UINT32_MAX}) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

}  // namespace

std::optional<RankSet> RankSet::parse(std::string_view text) {
  RankSet set;
  if (text.empty() || text == "*") return set;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = parse_rank(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_rank(part.substr(dash + 1));
    if (!first || !last || *first > *last) return std::nullopt;
    set.ranges_.emplace_back(*first, *last);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return set;
}

bool RankSet::holds(uint32_t rank) const noexcept {
  return ranges_.empty() || std::any_of(ranges_.begin(), ranges_.end(), [rank](const auto& range) {
           return range.first <= rank && rank <= range.second;
         });
}

}  // namespace pinwire

#include "am/send/limits.h"

#include <algorithm>

#include "am/send/outgoing.h"

namespace pinwire {
namespace {

constexpr size_t kLongBytesMax = size_t{1} << 31;

}  // namespace

AmLimits am_limits(bool is_final) noexcept {
  AmLimits limits{kMediumBytesMax, kLongBytesMax, kLongBytesMax};
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    const Caps& caps = engine.drivers[d].caps;
    limits.medium_bytes_max = std::min(limits.medium_bytes_max, carried_bytes_max(caps));
    limits.long_bytes_max = std::min<size_t>(limits.long_bytes_max, caps.put_bytes_max);
  }
  limits.long_reply_bytes_max = limits.long_bytes_max;
  for (Rank rank = 0; engine.routes != nullptr && rank < engine.rank_count; ++rank) {
    const Route& route = engine.routes[rank];
    if (route.driver == nullptr || (is_final && route.reach == Reach::kWhole)) continue;
    const Caps& caps = engine.caps_of(route);
    if (!caps.bounded_replies) continue;
    limits.long_reply_bytes_max = std::min(limits.long_reply_bytes_max, carried_bytes_max(caps));
  }
  check(limits.medium_bytes_max >= 512, "a driver carries too little (C1-130)",
        limits.medium_bytes_max);
  check(limits.long_bytes_max >= 512, "a driver puts too little (C1-130)", limits.long_bytes_max);
  check(limits.long_reply_bytes_max >= 512, "a reply carries too little (C1-130)",
        limits.long_reply_bytes_max);
  return limits;
}

}  // namespace pinwire

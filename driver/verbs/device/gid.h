// Which of a port's addresses to use on an Ethernet link (RoCE), or on InfiniBand when one is asked
// for.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace pinwire::verbs {

enum class GidKind : uint8_t { kInfiniBand, kRoceV1, kRoceV2 };

struct GidEntry {
  uint32_t index = 0;
  GidKind kind = GidKind::kInfiniBand;
  std::array<uint8_t, 16> bytes{};
};

/// Routable before link-local, RoCE v2 before v1, IPv4 before IPv6, the lowest index among equals.
/// `wanted` (GASNET_GID), an index or an IPv4, IPv6 or raw address, overrides that.
Result<GidEntry> choose_gid(std::span<const GidEntry> table, std::string_view wanted);

/// "RoCE v2 10.9.0.1 (GID 1)"
std::string describe(const GidEntry& gid);

}  // namespace pinwire::verbs

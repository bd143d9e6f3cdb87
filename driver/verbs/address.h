// What each rank tells the others at start, as bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"

namespace pinwire::verbs {

/// Connections of a rank to one peer and lane: one for each MessageClass.
inline constexpr uint32_t kLinksPerPeer = 2;

struct Address {
  uint8_t mtu = 0;  ///< ibv_mtu
  bool is_ethernet = false;
  uint16_t lid = 0;
  uint32_t lanes = 0;
  uint32_t credit_key = 0;   ///< of the words below
  uint64_t credit_base = 0;  ///< a word for each [lane][rank]: requests of mine that it gave back
  std::array<uint8_t, 16> gid{};
  std::vector<uint32_t> queue_pairs;  ///< [rank][lane][class]
};

std::vector<std::byte> encode(const Address& address);
/// A sentence unless the bytes are of this build, for `rank_count` ranks.
Result<Address> decode(std::span<const std::byte> bytes, uint32_t rank_count);

}  // namespace pinwire::verbs

// The facts that each rank tells the others at start, as bytes: where datagrams reach it. Its
// connections are made later, by them.
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

/// All that is kept of a rank before anything is sent to it or comes from it.
struct Place {
  std::array<uint8_t, 16> gid{};  ///< iWARP: its IPv4 address, as it looks in IPv6
  uint32_t datagram_queue = 0;    ///< number of the queue pair that its greetings come to
  uint16_t lid = 0;               ///< iWARP: the TCP port where it is called
  uint8_t mtu = 0;                ///< ibv_mtu
};
static_assert(sizeof(Place) == 24);

/// One end of the connections of two ranks and a lane: what the other end must know to make its
/// own.
struct Ends {
  uint32_t queue_pairs[kLinksPerPeer] = {};
  uint64_t credit_address = 0;  ///< of a word: requests of mine that you gave back
  uint32_t credit_key = 0;
  bool operator==(const Ends&) const = default;
};

struct Address {
  Place place;
  bool is_ethernet = false;
  uint32_t lanes = 0;
  /// [rank][lane], of a device without datagrams, whose connections are made at start; else empty.
  std::vector<Ends> ends;
};

std::vector<std::byte> encode(const Address& address);
/// A sentence unless the bytes are of this build, for `rank_count` ranks.
Result<Address> decode(std::span<const std::byte> bytes, uint32_t rank_count);

}  // namespace pinwire::verbs

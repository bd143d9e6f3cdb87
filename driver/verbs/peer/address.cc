#include "driver/verbs/peer/address.h"

#include <cstring>

namespace pinwire::verbs {
namespace {

constexpr uint32_t kVersion = 2;
constexpr uint32_t kLanesMax = 256;

struct PackedAddress {
  uint32_t version;
  uint8_t is_ethernet;
  uint8_t has_ends;
  uint16_t lid;
  uint32_t lanes;
  uint32_t datagram_queue;
  uint32_t mtu;
  std::array<uint8_t, 16> gid;
};
static_assert(sizeof(PackedAddress) == 36);

struct PackedEnds {
  uint32_t queue_pairs[kLinksPerPeer];
  uint32_t credit_key;
  uint32_t credit_address[2];
};
static_assert(sizeof(PackedEnds) == 20);

PackedEnds pack(const Ends& ends) noexcept {
  return {{ends.queue_pairs[0], ends.queue_pairs[1]},
          ends.credit_key,
          {static_cast<uint32_t>(ends.credit_address),
           static_cast<uint32_t>(ends.credit_address >> 32)}};
}
Ends unpack(const PackedEnds& packed) noexcept {
  return {{packed.queue_pairs[0], packed.queue_pairs[1]},
          packed.credit_address[0] | uint64_t{packed.credit_address[1]} << 32,
          packed.credit_key};
}

}  // namespace

std::vector<std::byte> encode(const Address& address) {
  const PackedAddress fixed{kVersion,          address.is_ethernet, !address.ends.empty(),
                            address.place.lid, address.lanes,       address.place.datagram_queue,
                            address.place.mtu, address.place.gid};
  std::vector<std::byte> bytes(sizeof fixed + address.ends.size() * sizeof(PackedEnds));
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  for (size_t i = 0; i < address.ends.size(); ++i) {
    const PackedEnds packed = pack(address.ends[i]);
    std::memcpy(bytes.data() + sizeof fixed + i * sizeof packed, &packed, sizeof packed);
  }
  return bytes;
}

Result<Address> decode(std::span<const std::byte> bytes, uint32_t rank_count) {
  PackedAddress fixed{};
  if (bytes.size() < sizeof fixed) return error("verbs: an address of %zu bytes", bytes.size());
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  const uint64_t count = fixed.has_ends != 0 ? uint64_t{rank_count} * fixed.lanes : 0;
  if (fixed.version != kVersion || fixed.lanes > kLanesMax ||
      bytes.size() - sizeof fixed != count * sizeof(PackedEnds)) {
    return error("verbs: an address of version %u and %zu bytes; run the same build on all ranks",
                 fixed.version, bytes.size());
  }
  Address address{{fixed.gid, fixed.datagram_queue, fixed.lid, static_cast<uint8_t>(fixed.mtu)},
                  fixed.is_ethernet != 0,
                  fixed.lanes,
                  {}};
  for (uint64_t i = 0; i < count; ++i) {
    PackedEnds packed{};
    std::memcpy(&packed, bytes.data() + sizeof fixed + i * sizeof packed, sizeof packed);
    address.ends.push_back(unpack(packed));
  }
  return address;
}

}  // namespace pinwire::verbs

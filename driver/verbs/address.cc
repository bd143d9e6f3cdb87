#include "driver/verbs/address.h"

#include <cstring>

namespace pinwire::verbs {
namespace {

constexpr uint32_t kVersion = 1;

struct Fixed {
  uint32_t version;
  uint8_t mtu;
  uint8_t is_ethernet;
  uint16_t lid;
  uint32_t lanes;
  uint32_t credit_key;
  uint64_t credit_base;
  std::array<uint8_t, 16> gid;
};
static_assert(sizeof(Fixed) == 40);

}  // namespace

std::vector<std::byte> encode(const Address& address) {
  const Fixed fixed{kVersion,      address.mtu,        address.is_ethernet, address.lid,
                    address.lanes, address.credit_key, address.credit_base, address.gid};
  const size_t tail = address.queue_pairs.size() * sizeof(uint32_t);
  std::vector<std::byte> bytes(sizeof fixed + tail);
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  if (tail != 0) std::memcpy(bytes.data() + sizeof fixed, address.queue_pairs.data(), tail);
  return bytes;
}

Result<Address> decode(std::span<const std::byte> bytes, uint32_t rank_count) {
  Fixed fixed{};
  if (bytes.size() < sizeof fixed) return error("verbs: an address of %zu bytes", bytes.size());
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  const uint64_t queues = uint64_t{rank_count} * fixed.lanes * kLinksPerPeer;
  if (fixed.version != kVersion || bytes.size() - sizeof fixed != queues * sizeof(uint32_t)) {
    return error("verbs: an address of version %u and %zu bytes; run the same build on all ranks",
                 fixed.version, bytes.size());
  }
  Address address{fixed.mtu,        fixed.is_ethernet != 0, fixed.lid, fixed.lanes,
                  fixed.credit_key, fixed.credit_base,      fixed.gid, {}};
  address.queue_pairs.resize(queues);
  if (queues != 0) {
    std::memcpy(address.queue_pairs.data(), bytes.data() + sizeof fixed, queues * sizeof(uint32_t));
  }
  return address;
}

}  // namespace pinwire::verbs

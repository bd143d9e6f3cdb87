#include "driver/verbs/peer/address_vector.h"

#include <cstring>

namespace pinwire::verbs {

ibv_ah_attr address_vector(const Device& device, uint16_t lid,
                           const std::array<uint8_t, 16>& gid) noexcept {
  constexpr uint8_t kHopLimit = 64;
  ibv_ah_attr attr{};
  attr.port_num = device.port;
  attr.dlid = lid;
  attr.sl = device.service_level;
  if (device.uses_gid) {
    attr.is_global = 1;
    std::memcpy(attr.grh.dgid.raw, gid.data(), gid.size());
    attr.grh.sgid_index = static_cast<uint8_t>(device.gid.index);
    attr.grh.hop_limit = kHopLimit;
    attr.grh.traffic_class = device.traffic_class;
  }
  return attr;
}

}  // namespace pinwire::verbs

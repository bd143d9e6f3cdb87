#include "driver/dpdk/port/port_steer.h"

#include <rte_flow.h>

namespace pinwire {

bool steer_udp_ports(uint16_t ethdev, uint16_t first_port, uint16_t queues,
                     uint16_t vlan) noexcept {
  for (uint16_t q = 0; q < queues; ++q) {
    rte_flow_attr attr{};
    attr.ingress = 1;
    rte_flow_item_udp port{};
    port.hdr.dst_port = rte_cpu_to_be_16(static_cast<uint16_t>(first_port + q));
    rte_flow_item_udp mask{};
    mask.hdr.dst_port = UINT16_MAX;
    rte_flow_item_vlan tag{};
    tag.tci = rte_cpu_to_be_16(vlan);
    rte_flow_item_vlan tag_mask{};
    tag_mask.tci = rte_cpu_to_be_16(0x0fff);
    rte_flow_item pattern[5] = {};
    uint32_t at = 0;
    pattern[at++].type = RTE_FLOW_ITEM_TYPE_ETH;
    if (vlan != 0) pattern[at++] = {RTE_FLOW_ITEM_TYPE_VLAN, &tag, nullptr, &tag_mask};
    pattern[at++].type = RTE_FLOW_ITEM_TYPE_IPV4;
    pattern[at++] = {RTE_FLOW_ITEM_TYPE_UDP, &port, nullptr, &mask};
    pattern[at].type = RTE_FLOW_ITEM_TYPE_END;
    rte_flow_action_queue target{};
    target.index = q;
    rte_flow_action actions[2] = {};
    actions[0].type = RTE_FLOW_ACTION_TYPE_QUEUE;
    actions[0].conf = &target;
    actions[1].type = RTE_FLOW_ACTION_TYPE_END;
    rte_flow_error problem{};
    if (rte_flow_create(ethdev, &attr, pattern, actions, &problem) == nullptr) {
      rte_flow_flush(ethdev, &problem);
      return false;
    }
  }
  return true;
}

}  // namespace pinwire

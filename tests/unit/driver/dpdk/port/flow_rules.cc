#include "tests/unit/driver/dpdk/port/flow_rules.h"

#include <rte_ethdev.h>
#include <rte_flow.h>

#include <algorithm>
#include <cstdio>

namespace pinwire {
namespace {

/// "udp 50000/ffff", "vlan 5/0fff", "eth"
std::string describe(const rte_flow_item& item) {
  char text[64] = "?";
  const auto show = [&](const char* name, uint16_t wanted, uint16_t mask) {
    std::snprintf(text, sizeof text, "%s %u/%04x", name, rte_be_to_cpu_16(wanted),
                  rte_be_to_cpu_16(mask));
    return std::string(text);
  };
  switch (item.type) {
    case RTE_FLOW_ITEM_TYPE_ETH:
      return item.spec == nullptr ? "eth" : "eth of some";
    case RTE_FLOW_ITEM_TYPE_IPV4:
      return item.spec == nullptr ? "ipv4" : "ipv4 of some";
    case RTE_FLOW_ITEM_TYPE_VLAN: {
      const auto* tag = static_cast<const rte_flow_item_vlan*>(item.spec);
      return show("vlan", tag->tci, static_cast<const rte_flow_item_vlan*>(item.mask)->tci);
    }
    case RTE_FLOW_ITEM_TYPE_UDP: {
      const auto* port = static_cast<const rte_flow_item_udp*>(item.spec);
      const auto* mask = static_cast<const rte_flow_item_udp*>(item.mask);
      return show("udp", port->hdr.dst_port, mask->hdr.dst_port);
    }
    default:
      return text;
  }
}

std::string describe(const rte_flow_attr& attributes, const rte_flow_item* pattern,
                     const rte_flow_action* actions) {
  std::string rule = attributes.ingress != 0 ? "rule" : "rule for what is sent";
  for (; pattern->type != RTE_FLOW_ITEM_TYPE_END; ++pattern) rule += " " + describe(*pattern);
  if (actions[0].type != RTE_FLOW_ACTION_TYPE_QUEUE || actions[1].type != RTE_FLOW_ACTION_TYPE_END)
    return rule + " -> ?";
  return rule + " -> " +
         std::to_string(static_cast<const rte_flow_action_queue*>(actions[0].conf)->index);
}

void refuse(rte_flow_error* problem, const char* message) {
  rte_flow_error_set(problem, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, nullptr, message);
}

}  // namespace

FlowRules& flow_rules() {
  static FlowRules rules;
  return rules;
}

}  // namespace pinwire

using pinwire::flow_rules;

extern "C" {

int __real_rte_flow_isolate(uint16_t ethdev, int set, rte_flow_error* problem);
int __real_rte_eth_dev_configure(uint16_t ethdev, uint16_t rx_queues, uint16_t tx_queues,
                                 const rte_eth_conf* conf);
int __real_rte_eth_dev_info_get(uint16_t ethdev, rte_eth_dev_info* info);
rte_flow* __real_rte_flow_create(uint16_t ethdev, const rte_flow_attr* attributes,
                                 const rte_flow_item* pattern, const rte_flow_action* actions,
                                 rte_flow_error* problem);
int __real_rte_flow_flush(uint16_t ethdev, rte_flow_error* problem);

int __wrap_rte_flow_isolate(uint16_t ethdev, int set, rte_flow_error* problem) {
  flow_rules().calls.push_back("isolate " + std::to_string(set));
  if (flow_rules().asks_device) return __real_rte_flow_isolate(ethdev, set, problem);
  if (flow_rules().isolates) return 0;
  pinwire::refuse(problem, flow_rules().refusal);
  return -ENOTSUP;
}

int __wrap_rte_eth_dev_configure(uint16_t ethdev, uint16_t rx_queues, uint16_t tx_queues,
                                 const rte_eth_conf* conf) {
  flow_rules().calls.push_back("configure " + std::to_string(rx_queues) + " queues");
  return __real_rte_eth_dev_configure(ethdev, rx_queues, tx_queues, conf);
}

int __wrap_rte_eth_dev_info_get(uint16_t ethdev, rte_eth_dev_info* info) {
  const int failed = __real_rte_eth_dev_info_get(ethdev, info);
  if (failed == 0 && flow_rules().driver_name != nullptr)
    info->driver_name = flow_rules().driver_name;
  return failed;
}

rte_flow* __wrap_rte_flow_create(uint16_t ethdev, const rte_flow_attr* attributes,
                                 const rte_flow_item* pattern, const rte_flow_action* actions,
                                 rte_flow_error* problem) {
  auto& calls = flow_rules().calls;
  calls.push_back(pinwire::describe(*attributes, pattern, actions));
  if (flow_rules().asks_device)
    return __real_rte_flow_create(ethdev, attributes, pattern, actions, problem);
  const auto rules = std::count_if(
      calls.begin(), calls.end(), [](const std::string& call) { return call.starts_with("rule"); });
  // Nobody looks into a rule.
  if (rules <= flow_rules().rules_max) return reinterpret_cast<rte_flow*>(&calls);
  pinwire::refuse(problem, "no more rules");
  return nullptr;
}

int __wrap_rte_flow_flush(uint16_t ethdev, rte_flow_error* problem) {
  flow_rules().calls.push_back("flush");
  return flow_rules().asks_device ? __real_rte_flow_flush(ethdev, problem) : 0;
}

}  // extern "C"

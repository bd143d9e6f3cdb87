// Flow rules: of a device that the kernel uses, too, which must leave the kernel all but the ranks'
// UDP ports, and of one with several queues. No device of these tests has rules; flow_rules.h
// answers for it. guest/isolation shows them at work.
#include <gtest/gtest.h>
#include <rte_ethdev.h>

#include "driver/dpdk/bring_up.h"
#include "tests/unit/driver/dpdk/local_port.h"
#include "tests/unit/driver/dpdk/options.h"
#include "tests/unit/driver/dpdk/port/flow_rules.h"

namespace pinwire {
namespace {

using Calls = std::vector<std::string>;

constexpr char kMellanox[] = "mlx5_pci", kIntel[] = "net_ixgbe";

/// Two queues of a device whose driver calls itself `driver_name`.
Result<std::unique_ptr<DpdkPort>> open_port(const char* driver_name, uint16_t vlan = 0,
                                            uint32_t queues = 2) {
  flow_rules().driver_name = driver_name;
  flow_rules().asks_device = false;
  DpdkPortOptions options = vdev("net_ring0", "");
  options.queues = queues;
  options.udp_port = 50'000;
  options.vlan = vlan;
  options.body_path = BodyPath::kCopy;
  return open_dpdk_port(options);
}

std::string check_calls(const Calls& wanted) {
  if (flow_rules().calls == wanted) return "";
  std::string all = "asked for:";
  for (const std::string& call : flow_rules().calls) all += " [" + call + "]";
  return all;
}

std::string check_sentence(const Result<std::unique_ptr<DpdkPort>>& port,
                           std::initializer_list<const char*> parts) {
  if (port.ok()) return "it was opened";
  for (const char* part : parts)
    if (port.sentence().find(part) == std::string::npos) return port.sentence();
  return "";
}

TEST(PortIsolation, IsAskedForBeforeTheDeviceIsConfiguredAndRulesAfterwards) {
  with_eal([]() -> std::string {
    auto port = open_port(kMellanox);
    if (!port) return port.sentence();
    if (!(*port)->is_isolated()) return "not isolated";
    if ((*port)->facts().queues != 2) return "not two queues";
    return check_calls({"isolate 1", "configure 2 queues", "rule eth ipv4 udp 50000/ffff -> 0",
                        "rule eth ipv4 udp 50001/ffff -> 1"});
  });
}

TEST(PortIsolation, AsksForARuleForAnOnlyQueueToo) {
  with_eal([]() -> std::string {
    auto port = open_port(kMellanox, 0, 1);
    if (!port) return port.sentence();
    return check_calls({"isolate 1", "configure 1 queues", "rule eth ipv4 udp 50000/ffff -> 0"});
  });
}

TEST(PortIsolation, TakesTheFramesOfItsVlanWhateverTheirPriority) {
  with_eal([]() -> std::string {
    auto port = open_port(kMellanox, 5, 1);
    if (!port) return port.sentence();
    return check_calls(
        {"isolate 1", "configure 1 queues", "rule eth vlan 5/0fff ipv4 udp 50000/ffff -> 0"});
  });
}

TEST(PortIsolation, ADeviceThatRefusesItIsNotConfigured) {
  with_eal([]() -> std::string {
    flow_rules().isolates = false;
    std::string wrong = check_sentence(
        open_port(kMellanox), {"net_ring0 (mlx5_pci)", "shares its device with the kernel",
                               "cannot leave it the kernel's traffic (the firmware is too old)",
                               "take a virtual function of it"});
    if (wrong.empty()) wrong = check_calls({"isolate 1"});
    return wrong;
  });
}

TEST(PortIsolation, ADeviceThatDoesNotSayWhyIsRefusedToo) {
  with_eal([]() -> std::string {
    flow_rules().isolates = false;
    flow_rules().refusal = nullptr;
    return check_sentence(open_port(kMellanox), {"kernel's traffic (no flow isolation)"});
  });
}

/// DPDK's own answer for a driver without rules.
TEST(PortIsolation, ADriverWithoutFlowRulesIsRefused) {
  with_eal([]() -> std::string {
    DpdkPortOptions options = vdev("net_ring0", "");
    options.body_path = BodyPath::kCopy;
    flow_rules().driver_name = kMellanox;
    return check_sentence(open_dpdk_port(options), {"cannot leave it the kernel's traffic ("});
  });
}

TEST(PortIsolation, ADeviceThatRefusesARuleIsClosedWithoutAny) {
  with_eal([]() -> std::string {
    flow_rules().rules_max = 1;
    std::string wrong =
        check_sentence(open_port(kMellanox), {"net_ring0 (mlx5_pci)", "refuses a rule for UDP",
                                              "50000", "take a virtual function of it"});
    if (wrong.empty()) {
      wrong = check_calls({"isolate 1", "configure 2 queues", "rule eth ipv4 udp 50000/ffff -> 0",
                           "rule eth ipv4 udp 50001/ffff -> 1", "flush"});
    }
    return wrong;
  });
}

TEST(PortIsolation, IsNotForADeviceThatIsThePortsAlone) {
  with_eal([]() -> std::string {
    auto port = open_port(kIntel);
    if (!port) return port.sentence();
    if ((*port)->is_isolated()) return "isolated";
    return check_calls({"configure 2 queues", "rule eth ipv4 udp 50000/ffff -> 0",
                        "rule eth ipv4 udp 50001/ffff -> 1"});
  });
}

/// Its frames would go to any queue, and so to any lane.
TEST(PortIsolation, WithoutRulesAPortHasOneQueue) {
  with_eal([]() -> std::string {
    flow_rules().rules_max = 0;
    auto port = open_port(kIntel);
    if (!port) return port.sentence();
    if ((*port)->facts().queues != 1) return "more than one queue";
    return check_calls({"configure 2 queues", "rule eth ipv4 udp 50000/ffff -> 0", "flush"});
  });
}

/// The kernel gets ARP, so that nobody would find the gateway.
TEST(PortIsolation, TheGatewayIsToldByItsMacAddress) {
  const ScratchDirectory scratch;
  const auto said = run_processes(1, 30, [&](uint32_t, Meeting&) -> std::string {
    flow_rules().driver_name = kMellanox;
    flow_rules().asks_device = false;
    DpdkOptions options = options_for("args", 0, 1, scratch.path());
    options.eal_arguments = "--vdev=net_ring0 --no-huge --no-shconf -m 96";
    options.address = "10.1.0.2/24";
    options.gateway = "10.1.0.1";
    auto device = bring_up_dpdk(options);
    if (device) return "started";
    return device.sentence().find("ip neighbour show 10.1.0.1") == std::string::npos
               ? device.sentence()
               : "";
  });
  EXPECT_EQ(said[0], "");
}

}  // namespace
}  // namespace pinwire

#include "driver/dpdk/fabric/fabric_choice.h"

#include "core/base/check.h"

namespace pinwire {
namespace {

struct Name {
  Fabric fabric;
  const char* text;
};
constexpr Name kNames[] = {{Fabric::kAuto, "auto"},     {Fabric::kArgs, "args"},
                           {Fabric::kPair, "pair"},     {Fabric::kMemif, "memif"},
                           {Fabric::kSwitch, "switch"}, {Fabric::kAfPacket, "af_packet"},
                           {Fabric::kPci, "pci"}};

}  // namespace

Result<Fabric> fabric_from_name(std::string_view name) {
  for (const Name& known : kNames) {
    if (name == known.text) return known.fabric;
  }
  return error("GASNET_DPDK_FABRIC=%.*s is none of auto, args, pair, memif, switch, af_packet, pci",
               static_cast<int>(name.size()), name.data());
}

const char* fabric_name(Fabric fabric) {
  for (const Name& known : kNames) {
    if (known.fabric == fabric) return known.text;
  }
  return "?";
}

Fabric choose_fabric(const FabricWish& wish) noexcept {
  if (wish.fabric != Fabric::kAuto) return wish.fabric;
  if (wish.eal_names_device) return Fabric::kArgs;
  if (wish.names_pci) return Fabric::kPci;
  if (wish.names_interface) return Fabric::kAfPacket;
  return wish.rank_count == 2 ? Fabric::kPair : Fabric::kSwitch;
}

std::string fabric_socket(Fabric fabric, const std::string& directory, uint32_t rank) {
  check(is_inside_host(fabric), "a fabric without sockets", fabric);
  if (fabric == Fabric::kSwitch) return directory + "/sw_" + std::to_string(rank) + ".sock";
  return directory + (fabric == Fabric::kPair ? "/pair.sock" : "/memif.sock");
}

}  // namespace pinwire

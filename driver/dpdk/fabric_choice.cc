#include "driver/dpdk/fabric_choice.h"

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

}  // namespace pinwire

#include "driver/dpdk/fabric/fabric.h"

#include <bit>

#include "core/base/bits.h"
#include "driver/dpdk/fabric/device_text.h"

namespace pinwire {
namespace {

constexpr uint32_t kMemifSlackBytes = 16;

/// Locally administered, never multicast: 02:50 and the rank.
MacAddress rank_mac(uint32_t rank) {
  return {0x02,
          0x50,
          static_cast<uint8_t>(rank >> 24),
          static_cast<uint8_t>(rank >> 16),
          static_cast<uint8_t>(rank >> 8),
          static_cast<uint8_t>(rank)};
}

std::string mac_text(const MacAddress& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

Status check_socket(const std::string& path) {
  return check_socket_path(
      path, "set GASNET_TMPDIR, or GASNET_JOB_DIR without a launcher, to another directory");
}

Status check_local(const FabricRequest& request) {
  if (!request.no_directory_reason.empty()) {
    return error("the %s fabric has no directory for its sockets: %s", fabric_name(request.fabric),
                 request.no_directory_reason.c_str());
  }
  if (request.job_directory.empty()) {
    return error(
        "the %s fabric needs a job directory for its sockets: start with gasnetrun_pinwire or set "
        "GASNET_JOB_DIR",
        fabric_name(request.fabric));
  }
  if (request.rank_count == request.host_rank_count) return success();
  return error(
      "the %s fabric joins ranks of one host, but %u of %u ranks run elsewhere; set "
      "GASNET_DPDK_FABRIC=pci, "
      "af_packet or args",
      fabric_name(request.fabric), request.rank_count - request.host_rank_count,
      request.rank_count);
}

Status check_two(const FabricRequest& request) {
  if (request.rank_count == 2) return success();
  return error(
      "the %s fabric joins exactly 2 ranks, this job has %u; set GASNET_DPDK_FABRIC=switch",
      fabric_name(request.fabric), request.rank_count);
}

std::string virtio_user_arguments(const FabricRequest& request, const std::string& socket,
                                  const MacAddress& mac) {
  // Packed rings: fewer cache lines per frame, 15 % off a small frame's round trip.
  std::string arguments = "path=" + socket + ",mac=" + mac_text(mac) + ",packed_vq=1,queue_size=" +
                          std::to_string(std::bit_floor(request.ring_frames));
  if (request.queues > 1) arguments += ",queues=" + std::to_string(request.queues) + ",cq=1";
  return arguments;
}

Result<FabricPlan> plan_pair(const FabricRequest& request, FabricPlan plan) {
  const std::string socket = fabric_socket(Fabric::kPair, request.job_directory);
  if (Status ok = check_socket(socket); !ok) return ok.error();
  if (request.rank == 0) {
    plan.device = "net_vhost0";
    plan.device_arguments = "iface=" + socket + ",queues=" + std::to_string(request.queues);
  } else {
    plan.device = "net_virtio_user0";
    plan.device_arguments = virtio_user_arguments(request, socket, plan.mac);
  }
  return plan;
}

Result<FabricPlan> plan_memif(const FabricRequest& request, FabricPlan plan) {
  const std::string socket = fabric_socket(Fabric::kMemif, request.job_directory);
  if (Status ok = check_socket(socket); !ok) return ok.error();
  plan.device = "net_memif0";
  // A frame longer than a buffer would be chained, which memif gets wrong. Its rings are 2^rsize.
  plan.device_arguments =
      std::string("role=") + (request.rank == 0 ? "server" : "client") + ",id=0,socket=" + socket +
      ",socket-abstract=no,bsize=" + std::to_string(request.frame_bytes + kMemifSlackBytes) +
      ",rsize=" + std::to_string(std::bit_width(request.ring_frames) - 1) +
      ",mac=" + mac_text(plan.mac);
  return plan;
}

Result<FabricPlan> plan_switch(const FabricRequest& request, FabricPlan plan) {
  if (request.is_directory_of_ranks) {
    return error(
        "the switch fabric needs pinwire_switch: start with gasnetrun_pinwire, or make a directory "
        "DIR to which you alone may write (mode 0700), start pinwire_switch --ports %u --dir DIR, "
        "and set GASNET_JOB_DIR=DIR",
        request.rank_count);
  }
  const std::string socket = fabric_socket(Fabric::kSwitch, request.job_directory, request.rank);
  if (Status ok = check_socket(socket); !ok) return ok.error();
  plan.device = "net_virtio_user0";
  plan.device_arguments = virtio_user_arguments(request, socket, plan.mac);
  return plan;
}

Result<FabricPlan> plan_af_packet(const FabricRequest& request, FabricPlan plan) {
  if (request.interface.empty()) {
    return error(
        "the af_packet fabric needs the name of a network interface: set GASNET_DPDK_IFACE");
  }
  if (Status fits = check_device_text("the network interface", request.interface,
                                      "set GASNET_DPDK_IFACE to the name of one");
      !fits) {
    return fits.error();
  }
  plan.mac = {};  // the interface has one
  plan.device = "net_af_packet0";
  // A slot holds the kernel's header and the frame; four of them are a whole number of pages.
  const uint32_t slot = align_up(request.frame_bytes + 128, 1024u);
  plan.device_arguments = "iface=" + request.interface + ",framesz=" + std::to_string(slot) +
                          ",blocksz=" + std::to_string(slot * 4) +
                          ",framecnt=" + std::to_string(std::bit_floor(request.ring_frames));
  return plan;
}

Result<FabricPlan> plan_pci(const FabricRequest& request, FabricPlan plan) {
  if (request.pci.empty()) {
    return error(
        "the pci fabric needs PCI addresses: set GASNET_DPDK_PCI=0000:17:00.0[,…] and bind them to "
        "vfio-pci "
        "(Mellanox ports stay with their kernel driver)");
  }
  if (request.host_rank_count > request.pci.size()) {
    return error(
        "%u ranks on this host share %zu PCI ports; each rank needs one of its own "
        "(GASNET_DPDK_PCI), for "
        "example a virtual function",
        request.host_rank_count, request.pci.size());
  }
  plan.mac = {};
  plan.physical = true;
  plan.device = request.pci.at(request.pci_index);
  if (Status fits = check_device_text("the PCI address", plan.device,
                                      "set GASNET_DPDK_PCI to addresses such as 0000:17:00.0");
      !fits) {
    return fits.error();
  }
  plan.eal_words = {"-a", plan.device};
  return plan;
}

}  // namespace

FabricWish wish_of(const FabricRequest& request) noexcept {
  return {.fabric = request.fabric,
          .eal_names_device = request.eal_names_device,
          .names_pci = !request.pci.empty(),
          .names_interface = !request.interface.empty(),
          .rank_count = request.rank_count};
}

Result<FabricPlan> plan_fabric(const FabricRequest& given) {
  FabricRequest request = given;
  request.fabric = choose_fabric(wish_of(given));
  FabricPlan plan{.fabric = request.fabric,
                  .device = {},
                  .device_arguments = {},
                  .eal_words = {},
                  .mac = rank_mac(request.rank),
                  .physical = false};
  if (is_inside_host(request.fabric)) {
    if (Status ok = check_local(request); !ok) return ok.error();
    if (request.fabric != Fabric::kSwitch) {
      if (Status ok = check_two(request); !ok) return ok.error();
    }
  }
  switch (request.fabric) {
    case Fabric::kPair:
      return plan_pair(request, std::move(plan));
    case Fabric::kMemif:
      return plan_memif(request, std::move(plan));
    case Fabric::kSwitch:
      return plan_switch(request, std::move(plan));
    case Fabric::kAfPacket:
      return plan_af_packet(request, std::move(plan));
    case Fabric::kPci:
      return plan_pci(request, std::move(plan));
    case Fabric::kArgs:
    case Fabric::kAuto:
      break;
  }
  plan.mac = {};  // the device of the user's own arguments keeps its address
  return plan;
}

}  // namespace pinwire

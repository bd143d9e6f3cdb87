#include "driver/dpdk/bring_up.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/files/owner_umask.h"
#include "core/base/files/private_dir.h"
#include "core/base/threads/cpus.h"
#include "driver/dpdk/eal/address_space.h"
#include "driver/dpdk/eal/eal.h"
#include "driver/dpdk/eal/huge_pages.h"
#include "driver/dpdk/eal/new_descriptors.h"
#include "driver/dpdk/port/device_traits.h"
#include "nicfw/wire/route.h"

namespace pinwire {
namespace {

/// A process that listens at a vhost or memif socket gets the memory of the rank that connects.
/// DPDK makes and connects these sockets itself, so that nobody can ask it for the peer's
/// credentials: the directory is what keeps other users away.
Result<FabricPlan> plan_private(FabricRequest request) {
  Result<FabricPlan> plan = plan_fabric(request);
  if (!plan || !is_inside_host(plan->fabric)) return plan;
  Result<std::string> directory = resolve_private_dir(request.job_directory);
  if (!directory) {
    return error(
        "the %s fabric's sockets would be open to other users: %s; set GASNET_JOB_DIR to a "
        "directory to which you alone may write (mode 0700)",
        fabric_name(plan->fabric), directory.sentence().c_str());
  }
  request.job_directory = *directory;
  return plan_fabric(request);
}

Result<FabricRequest> request_of(const DpdkOptions& options,
                                 const std::vector<std::string>& eal_words) {
  Result<Fabric> fabric = fabric_from_name(options.fabric);
  if (!fabric) return fabric.error();
  return FabricRequest{.fabric = *fabric,
                       .rank = options.rank,
                       .rank_count = options.rank_count,
                       .host_rank = options.host_rank,
                       .host_rank_count = options.host_rank_count,
                       .job_directory = options.job_directory,
                       .no_directory_reason = options.no_directory_reason,
                       .is_directory_of_ranks = options.is_directory_of_ranks,
                       .eal_names_device = names_device(eal_words),
                       .interface = options.interface,
                       .pci = options.pci,
                       .pci_index = options.pci_index,
                       .queues = options.lanes,
                       .frame_bytes = options.mtu + kEthernetBytes,
                       .ring_frames = options.ring_frames};
}

Result<FabricPlan> fabric_of(const DpdkOptions& options,
                             const std::vector<std::string>& eal_words) {
  Result<FabricRequest> request = request_of(options, eal_words);
  if (!request) return request.error();
  return plan_private(std::move(*request));
}

/// Ranks of a host that wait for each other's devices look there. Empty where other users may
/// write.
std::string failure_path(const DpdkOptions& options) {
  auto directory = resolve_private_dir(options.job_directory);
  return directory ? *directory + "/dpdk-failed" : "";
}

DpdkPortOptions port_options(const DpdkOptions& options, const FabricPlan& fabric) {
  DpdkPortOptions port;
  port.device = fabric.device;
  port.make_vdev = !fabric.device_arguments.empty();
  port.device_arguments = fabric.device_arguments;
  port.queues = options.lanes;
  port.frame_bytes = options.mtu + kEthernetBytes;
  port.ring_frames = options.ring_frames;
  port.udp_port = options.udp_port;
  port.vlan = options.vlan;
  port.probe_timeout_ms = options.timeout_ms;
  port.interrupts = options.interrupts;
  port.mac = fabric.mac;
  port.memory_medium = fabric.fabric == Fabric::kPair || fabric.fabric == Fabric::kMemif;
  port.inside_host = is_inside_host(fabric.fabric);
  if (port.inside_host) port.failure_path = failure_path(options);
  return port;
}

EalPlan eal_of(const DpdkOptions& options, const FabricPlan& fabric, const DpdkPortOptions& port,
               std::vector<std::string> words) {
  EalRequest request;
  request.given = std::move(words);
  request.given.insert(request.given.end(), fabric.eal_words.begin(), fabric.eal_words.end());
  request.file_prefix = "pinwire-" + std::to_string(getpid());
  request.cpus = usable_cpus();
  // A user who chose `args` without a virtual device means the device that EAL finds on the PCI
  // bus.
  request.physical = fabric.physical || fabric.fabric == Fabric::kArgs;
  request.huge = options.huge;
  request.memory_bytes =
      options.memory_mib != 0 ? uint64_t{options.memory_mib} << 20 : dpdk_port_memory_bytes(port);
  request.ranks_on_host = options.host_rank_count;
  request.huge_bytes_free = huge_bytes_free();
  return plan_eal(request);
}

}  // namespace

DpdkDevice::~DpdkDevice() {
  port_.reset();
  eal_stop();
}

Status DpdkDevice::join_network(const DpdkOptions& options) {
  Result<PortAddress> address =
      port_address(options.address, options.rank, options.rank_count, port_->interface_index());
  if (!address) return address.error();
  Result<Gateway> gateway = gateway_of(options.gateway, *address);
  if (!gateway) return gateway.error();
  address_ = *address;
  gateway_mac_ = gateway->mac;
  if (address_.ipv4 == 0) return success();
  description_ +=
      ", address " + ipv4_text(address_.ipv4) + "/" + std::to_string(address_.prefix_bits);
  if (gateway->ipv4 != 0 && port_->is_isolated()) {
    return error(
        "the kernel gets the answers to ARP on this port: give the gateway's MAC address in "
        "GASNET_DPDK_GATEWAY (ip neighbour show %s)",
        ipv4_text(gateway->ipv4).c_str());
  }
  if (gateway->ipv4 != 0) {
    constexpr uint32_t kGatewayTimeoutMs = 5'000;
    Result<MacAddress> found = find_gateway(*port_, address_, gateway->ipv4,
                                            std::min(options.timeout_ms, kGatewayTimeoutMs));
    if (!found) return found.error();
    gateway_mac_ = *found;
  }
  return silent_.open(address_.ipv4, options.udp_port, options.lanes);
}

namespace {

/// EAL's memory is a file that a peer of the same host maps. Where EAL gets none it takes memory
/// that it cannot share, without a word, and the link never comes up. (memif's rings are such files
/// whatever the user's words say of the memory.)
Status check_memory_files(const FabricPlan& fabric, const EalPlan& eal) {
  const bool needs_one = eal.in_memory_files || fabric.fabric == Fabric::kMemif;
  if (!is_inside_host(fabric.fabric) || !needs_one) return success();
  const int fd = memfd_create("pinwire-probe", MFD_CLOEXEC);
  if (fd < 0) {
    return error(
        "ranks share memory over the %s fabric, and the kernel refuses a file for it: "
        "memfd_create: "
        "%s; allow that call (a container's seccomp profile?)",
        fabric_name(fabric.fabric), strerror(errno));
  }
  close(fd);
  return success();
}

/// All ranks of a host give EAL as much.
Status leave_room_for_peer(const FabricPlan& fabric, const EalPlan& eal) {
  return fabric.device.starts_with("net_vhost") ? leave_address_space_for(eal.file_bytes)
                                                : success();
}

/// Those of EAL and of a device in memory, counted in /proc, with some to spare: a device on a bus
/// may want more.
uint32_t files_of(const DpdkOptions& options) noexcept {
  constexpr uint32_t kFiles = 16, kFilesOfLane = 8;
  return kFiles + kFilesOfLane * options.lanes;
}

/// EAL's own directory lasts as long as EAL, which one that the ranks made does not.
std::string runtime_directory(const DpdkOptions& options) {
  return options.is_directory_of_ranks ? "" : options.job_directory;
}

Result<std::unique_ptr<DpdkDevice>> start_device(const DpdkOptions& options) {
  Result<std::vector<std::string>> words = split_words(options.eal_arguments);
  if (!words) return words.error();
  Result<FabricPlan> fabric = fabric_of(options, *words);
  if (!fabric) return fabric.error();
  const DpdkPortOptions port = port_options(options, *fabric);
  const EalPlan eal = eal_of(options, *fabric, port, std::move(*words));
  if (Status shared = check_memory_files(*fabric, eal); !shared) return shared.error();
  const NewDescriptors opened_here;
  if (Status room = opened_here.leave_room_for(files_of(options)); !room) return room.error();
  if (Status started =
          eal_start({eal, runtime_directory(options), options.private_cpus, options.show_log});
      !started)
    return started.error();
  if (Status room = leave_room_for_peer(*fabric, eal); !room) {
    eal_stop();
    return room.error();
  }
  Result<std::unique_ptr<DpdkPort>> opened = open_dpdk_port(port);
  Status up = opened ? (*opened)->wait_link_up(options.timeout_ms) : Status(opened.error());
  if (!up) {
    if (opened) opened->reset();
    eal_stop();
    return up.error();
  }
  const std::string description = std::string("dpdk: fabric ") + fabric_name(fabric->fabric) +
                                  ", " + (*opened)->describe() + ", " + eal.memory;
  auto device = std::make_unique<DpdkDevice>(std::move(*opened), description, opened_here);
  if (Status joined = device->join_network(options); !joined) return joined.error();
  device->close_on_exec();
  return device;
}

}  // namespace

Result<Fabric> chosen_fabric(const DpdkOptions& options) {
  Result<std::vector<std::string>> words = split_words(options.eal_arguments);
  if (!words) return words.error();
  Result<FabricRequest> request = request_of(options, *words);
  if (!request) return request.error();
  return choose_fabric(wish_of(*request));
}

Result<std::unique_ptr<DpdkDevice>> bring_up_dpdk(const DpdkOptions& options) {
  const OwnerUmask owners;
  auto device = start_device(options);
  if (device) return device;
  if (const std::string path = failure_path(options); !path.empty()) {
    const int made = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (made >= 0) close(made);
  }
  return device;
}

}  // namespace pinwire

// From the job's settings to the dpdk driver's options.
#include <algorithm>

#include "core/engine/engine.h"
#include "driver/dpdk/driver.h"
#include "extended/drivers/nearest_port.h"
#include "extended/drivers/socket_directory.h"
#include "extended/drivers/table.h"

namespace pinwire {
namespace {

HugePages huge_pages(DpdkHugePages choice) {
  switch (choice) {
    case DpdkHugePages::kNever:
      return HugePages::kNever;
    case DpdkHugePages::kAlways:
      return HugePages::kAlways;
    case DpdkHugePages::kAuto:
      break;
  }
  return HugePages::kAuto;
}

/// Whether two processes of one host share the port's memory. A wrong name is the driver's to
/// refuse.
bool is_pair(const DpdkOptions& options) {
  auto fabric = chosen_fabric(options);
  return fabric && (*fabric == Fabric::kPair || *fabric == Fabric::kMemif);
}

/// Between two processes of one host nothing is lost for want of descriptors, and the fewer buffers
/// go round, the more of them stay in the cache: 1 MiB puts are a fifth faster with 256 than with
/// 512.
uint32_t ring_frames(const Settings& settings, const DpdkOptions& options) {
  if (settings.dpdk_ring_frames != 0) return settings.dpdk_ring_frames;
  return is_pair(options) ? 256 : 512;
}

/// A rank of a network that polls once in a millisecond gets 36 Gb/s with 512 frames of 9,014 bytes
/// in flight.
uint32_t window_frames(const Settings& settings, const DpdkOptions& options) {
  if (settings.dpdk_window_frames != 0) return settings.dpdk_window_frames;
  return is_pair(options) ? 256 : 512;
}

Result<Rails> make_in(const Job& job, const SocketDirectory& directory) {
  const Settings& settings = job.settings;
  constexpr uint32_t kRingFramesMin = 64;
  if (settings.dpdk_ring_frames != 0 && settings.dpdk_ring_frames < kRingFramesMin) {
    return error("GASNET_DPDK_RING=%u is too few: set at least %u, or 0 to leave it to Pinwire",
                 settings.dpdk_ring_frames, kRingFramesMin);
  }
  constexpr double kPeerTimeoutMinS = 1;
  if (settings.peer_timeout_s > 0 && settings.peer_timeout_s < kPeerTimeoutMinS) {
    return error(
        "GASNET_PEER_TIMEOUT=%g is too short, as a rank may be descheduled so long: set at least "
        "%g, or 0 to wait for ever",
        settings.peer_timeout_s, kPeerTimeoutMinS);
  }
  DpdkOptions options;
  options.rank = engine.rank;
  options.rank_count = engine.rank_count;
  options.host_rank = rank_on_host(job);
  options.host_rank_count = ranks_on_host(job, engine.rank);
  options.job_directory = directory.path;
  options.no_directory_reason = directory.reason;
  options.is_directory_of_ranks = directory.of_ranks;
  options.fabric = settings.dpdk_fabric;
  options.eal_arguments = settings.eal_args;
  options.interface = settings.dpdk_iface;
  options.vlan = settings.dpdk_vlan;
  options.address = settings.dpdk_address;
  options.gateway = settings.dpdk_gateway;
  PortChoice port = choose_port(job);
  options.pci = std::move(port.ports);
  options.pci_index = port.index;
  options.private_cpus = std::move(port.private_cpus);
  options.huge = huge_pages(settings.dpdk_hugepages);
  options.memory_mib = settings.dpdk_memory_mib;
  options.mtu = settings.dpdk_mtu_bytes;
  options.ring_frames = ring_frames(settings, options);
  options.lanes = std::min(settings.dpdk_queues, engine.lane_count);
  options.udp_port = settings.dpdk_udp_port;
  options.show_story = settings.verbose_env && engine.rank == 0;
  options.show_log = settings.dpdk_log;
  NicConfig nic;
  nic.window_frames = window_frames(settings, options);
  nic.coalesce = settings.dpdk_coalesce;
  nic.auth = settings.dpdk_auth == DpdkAuth::kHeader ? FrameAuth::kHeader : FrameAuth::kFull;
  nic.peer_timeout_ns = static_cast<uint64_t>(settings.peer_timeout_s * 1e9);
  nic.seed = job.bootstrap->job_key() + engine.rank;
  auto driver = make_dpdk_driver(options, nic);
  if (!driver) return driver.error();
  Rails rails;
  rails.push_back(std::move(*driver));
  return rails;
}

}  // namespace

Result<Rails> make_dpdk_for(const Job& job) {
  auto directory = agree_on_socket_directory(job);
  if (!directory) return directory.error();
  auto rails = make_in(job, *directory);
  // Also a rank that failed goes there: the others wait for it.
  if (auto left = leave_socket_directory(job, *directory); !left) return left.error();
  return rails;
}

}  // namespace pinwire

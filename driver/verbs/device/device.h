// An opened RDMA device, one of its ports, and what the driver needs to know of them.
#pragma once

#include <infiniband/verbs.h>

#include <string>

#include "driver/verbs/device/gid.h"
#include "driver/verbs/device/options.h"
#include "driver/verbs/device/owned.h"

namespace pinwire::verbs {

/// Whether the device reaches any memory of the process, and follows its page tables: on-demand
/// paging of the whole address space (ibv_query_device_ex(3)).
struct Paging {
  bool is_used = false;
  bool has_atomics = false;
  std::string description;  ///< of whether, and why not
};

struct Device {
  Owned<ibv_context, ibv_close_device> context;
  Owned<ibv_pd, ibv_dealloc_pd> pd;
  std::string name;
  uint8_t port = 1;
  ibv_device_attr limits{};
  ibv_port_attr port_facts{};
  bool is_ethernet = false;
  bool is_iwarp = false;        ///< messages name no sender, and the connection manager connects
  bool calls_kernel = true;     ///< to post, where a thread may be cancelled: one in software
  bool shares_receives = true;  ///< connections take messages from shared receive queues
  uint32_t read_bytes_min = 0;  ///< shorter reads are widened: short_read.h
  /// Packets have a global route header: always on Ethernet, on InfiniBand where the port requires
  /// it, or the user names an address or a traffic class.
  bool uses_gid = false;
  GidEntry gid;
  uint16_t pkey_index = 0;    ///< of the partition
  uint8_t service_level = 0;  ///< of all packets; likewise
  uint8_t traffic_class = 0;
  Paging paging;

  bool has_atomics() const noexcept { return limits.atomic_cap != IBV_ATOMIC_NONE; }
  /// Most are atomic among themselves alone (IBA 9.4.5).
  bool atomics_meet_cpu() const noexcept { return limits.atomic_cap == IBV_ATOMIC_GLOB; }
  /// Bytes of one packet's payload.
  uint32_t mtu_bytes() const noexcept { return 128u << port_facts.active_mtu; }
  /// "mlx5_0 port 1, RoCE v2 10.0.0.1 (GID 3), MTU 4096"
  std::string describe() const;
};

/// `connects_iwarp`: whether this build makes the connections of iWARP devices.
Result<Device> open_device(const VerbsOptions& options, bool connects_iwarp);

}  // namespace pinwire::verbs

#include "driver/verbs/device/device.h"

#include <endian.h>
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "driver/verbs/device/partition.h"
#include "driver/verbs/device/ports.h"
#include "driver/verbs/device/short_read.h"

namespace pinwire::verbs {
namespace {

std::vector<GidEntry> read_gids(ibv_context* context, uint8_t port, int count) {
  std::vector<GidEntry> table;
  for (uint32_t index = 0; index < static_cast<uint32_t>(count); ++index) {
    ibv_gid_entry found{};
    if (ibv_query_gid_ex(context, port, index, &found, 0) != 0) continue;
    GidEntry entry;
    entry.index = index;
    entry.kind = found.gid_type == IBV_GID_TYPE_ROCE_V2   ? GidKind::kRoceV2
                 : found.gid_type == IBV_GID_TYPE_ROCE_V1 ? GidKind::kRoceV1
                                                          : GidKind::kInfiniBand;
    std::memcpy(entry.bytes.data(), found.gid.raw, sizeof found.gid.raw);
    table.push_back(entry);
  }
  return table;
}

std::vector<uint16_t> read_partitions(ibv_context* context, uint8_t port, int count) {
  std::vector<uint16_t> table(static_cast<size_t>(count));
  for (int index = 0; index < count; ++index) {
    __be16 key = 0;
    if (ibv_query_pkey(context, port, index, &key) == 0) {
      table[static_cast<size_t>(index)] = be16toh(key);
    }
  }
  return table;
}

/// Which partition packets are of, and what they ask of the network.
Status choose_service(Device& device, const VerbsOptions& options) {
  device.service_level = options.service_level;
  device.traffic_class = options.traffic_class;
  if (device.is_iwarp) {
    if ((options.pkey | options.service_level | options.traffic_class) == 0) return success();
    return error(
        "it is iWARP, whose connections have no partition, service level or traffic class that "
        "GASNET_IBV_PKEY, GASNET_IBV_SERVICE_LEVEL and GASNET_IBV_TRAFFIC_CLASS could choose");
  }
  auto partition = choose_partition(
      read_partitions(device.context.get(), device.port, device.port_facts.pkey_tbl_len),
      options.pkey);
  if (!partition) return partition.error();
  device.pkey_index = *partition;
  return success();
}

bool wants_gid(const Device& device, const VerbsOptions& options) noexcept {
  if (device.is_iwarp) return false;
  const bool is_required = (device.port_facts.flags & IBV_QPF_GRH_REQUIRED) != 0;
  return device.is_ethernet || is_required || !options.gid.empty() || options.traffic_class != 0;
}

/// Asynchronous events are looked for, never waited for.
Status make_nonblocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return error("cannot make the device's event file non-blocking: %s", std::strerror(errno));
  }
  return success();
}

/// Messages leave from and arrive in buffers of the driver's own, so that only what writes and
/// reads do to memory matters.
Paging read_paging(ibv_context* context, const VerbsOptions& options) {
  if (!options.pages_on_demand) return {false, false, "not wanted"};
  ibv_device_attr_ex facts{};
  if (const int failed = ibv_query_device_ex(context, nullptr, &facts); failed != 0) {
    return {false, false, std::string("cannot be asked for: ") + std::strerror(failed)};
  }
  constexpr uint64_t kGeneral = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  constexpr uint32_t kTransfers = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
  const uint64_t general = facts.odp_caps.general_caps;
  const uint32_t transfers = facts.odp_caps.per_transport_caps.rc_odp_caps;
  if ((general & IBV_ODP_SUPPORT) == 0) return {false, false, "the device has none"};
  if ((general & kGeneral) != kGeneral) {
    return {false, false, "the device has it for memory that is named, not for all memory"};
  }
  if ((transfers & kTransfers) != kTransfers) {
    return {false, false, "the device has it, but not for writes and reads over connections"};
  }
  return {true, (transfers & IBV_ODP_SUPPORT_ATOMIC) != 0, "used for all memory"};
}

Result<Device> open_port(const PortName& chosen, const VerbsOptions& options) {
  Device device;
  device.name = ibv_get_device_name(chosen.device);
  device.port = chosen.port;
  device.context.reset(ibv_open_device(chosen.device));
  const char* name = device.name.c_str();
  if (!device.context) return error("%s cannot be opened: %s", name, std::strerror(errno));
  if (ibv_query_device(device.context.get(), &device.limits) != 0 ||
      ibv_query_port(device.context.get(), device.port, &device.port_facts) != 0) {
    return error("%s port %u cannot be queried: %s", name, device.port, std::strerror(errno));
  }
  device.is_ethernet = device.port_facts.link_layer == IBV_LINK_LAYER_ETHERNET;
  device.is_iwarp = chosen.device->transport_type == IBV_TRANSPORT_IWARP;
  device.calls_kernel = pci_address(chosen.device).empty();
  device.shares_receives = device.limits.max_srq != 0 && options.shares_receives;
  if (device.is_iwarp) device.read_bytes_min = kIwarpReadBytesMin;
  if (auto chosen_service = choose_service(device, options); !chosen_service) {
    return error("%s port %u: %s", name, device.port, chosen_service.sentence().c_str());
  }
  device.uses_gid = wants_gid(device, options);
  if (device.uses_gid) {
    const auto table = read_gids(device.context.get(), device.port, device.port_facts.gid_tbl_len);
    auto gid = choose_gid(table, options.gid);
    if (!gid) return error("%s port %u: %s", name, device.port, gid.sentence().c_str());
    device.gid = *gid;
  }
  device.paging = read_paging(device.context.get(), options);
  if (auto done = make_nonblocking(device.context->async_fd); !done) return done.error();
  device.pd.reset(ibv_alloc_pd(device.context.get()));
  if (!device.pd) return error("%s: no protection domain: %s", name, std::strerror(errno));
  return device;
}

}  // namespace

std::string Device::describe() const {
  std::string text = name + " port " + std::to_string(port) + ", ";
  text += uses_gid   ? verbs::describe(gid)
          : is_iwarp ? std::string("iWARP")
                     : "InfiniBand LID " + std::to_string(port_facts.lid);
  return text + ", MTU " + std::to_string(mtu_bytes());
}

Result<Device> open_device(const VerbsOptions& options, bool connects_iwarp) {
  auto list = DeviceList::make();
  if (!list) return list.error();
  auto ports = find_ports(*list, options.device, connects_iwarp);
  if (!ports) return ports.error();
  return open_port(ports->front(), options);
}

}  // namespace pinwire::verbs

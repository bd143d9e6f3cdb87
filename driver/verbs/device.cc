#include "driver/verbs/device.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "driver/rdma/providers.h"
#include "driver/verbs/connection_manager.h"

namespace pinwire::verbs {
namespace {

/// A port that could be used, or why it cannot.
struct Candidate {
  ibv_device* device = nullptr;
  uint8_t port = 0;
  std::string objection;  ///< empty: none
};

struct Wanted {
  std::string name;   ///< empty: any
  uint32_t port = 0;  ///< 0: any
};

Result<Wanted> parse_wanted(const std::string& text) {
  Wanted wanted;
  const size_t colon = text.find(':');
  wanted.name = text.substr(0, colon);
  if (colon == std::string::npos) return wanted;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, wanted.port);
  if (wanted.name.empty() || parsed.ec != std::errc{} || parsed.ptr != end || wanted.port == 0 ||
      wanted.port > 255) {
    return error("GASNET_VERBS_DEVICE=%s is not of the form DEVICE or DEVICE:PORT", text.c_str());
  }
  return wanted;
}

/// Why a port cannot be used; empty if it can.
std::string objection_to(ibv_context* context, uint8_t port) {
  ibv_port_attr facts{};
  if (const int failed = ibv_query_port(context, port, &facts); failed != 0) {
    return std::string("cannot be queried: ") + std::strerror(failed);
  }
  if (facts.state != IBV_PORT_ACTIVE) {
    return std::string("is ") + ibv_port_state_str(facts.state) + ", not active";
  }
  return {};
}

void add_ports(ibv_device* device, const Wanted& wanted, std::vector<Candidate>& all) {
  if (device->transport_type == IBV_TRANSPORT_IWARP && !has_connection_manager()) {
    all.push_back({device, 0,
                   "is iWARP, whose connections librdmacm makes, and this build has none (install "
                   "librdmacm-dev and build again)"});
    return;
  }
  Owned<ibv_context, ibv_close_device> context(ibv_open_device(device));
  if (!context) {
    all.push_back({device, 0,
                   std::string("cannot be opened: ") + std::strerror(errno) +
                       " (is /dev/infiniband accessible to this user?)"});
    return;
  }
  ibv_device_attr limits{};
  if (const int failed = ibv_query_device(context.get(), &limits); failed != 0) {
    all.push_back({device, 0, std::string("cannot be queried: ") + std::strerror(failed)});
    return;
  }
  if (limits.max_srq == 0 || limits.max_qp == 0) {
    all.push_back({device, 0, "has no reliable connections with shared receive queues"});
    return;
  }
  for (uint8_t port = 1; port <= limits.phys_port_cnt; ++port) {
    if (wanted.port != 0 && port != wanted.port) continue;
    all.push_back({device, port, objection_to(context.get(), port)});
  }
}

/// "0000:3b:00.0"; "" for a device in software.
std::string pci_address(ibv_device* device) {
  const std::string link =
      std::string("/sys/class/infiniband/") + ibv_get_device_name(device) + "/device";
  char target[256];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  if (length <= 0) return {};
  const std::string path(target, static_cast<size_t>(length));
  return path.substr(path.rfind('/') + 1);
}

Result<Candidate> choose(const std::vector<Candidate>& all, const VerbsOptions& options) {
  std::vector<const Candidate*> good;
  std::string objections;
  for (const Candidate& one : all) {
    if (one.objection.empty()) {
      good.push_back(&one);
      continue;
    }
    objections += std::string(objections.empty() ? "" : "; ") + ibv_get_device_name(one.device);
    if (one.port != 0) objections += " port " + std::to_string(one.port);
    objections += " " + one.objection;
  }
  if (!good.empty()) {
    std::vector<std::string> addresses;
    for (const Candidate* one : good) addresses.push_back(pci_address(one->device));
    const uint32_t index = options.choose ? options.choose(addresses) : 0;
    check(index < good.size(), "a choice of no port", index, good.size());
    return *good[index];
  }
  if (!objections.empty()) return error("no RDMA device will do: %s", objections.c_str());
  return error("there is no RDMA device %s; `ibv_devices` lists what there is",
               options.device.c_str());
}

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

/// Asynchronous events are looked for, never waited for.
Status make_nonblocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return error("cannot make the device's event file non-blocking: %s", std::strerror(errno));
  }
  return success();
}

Result<Device> open_port(const Candidate& chosen, const VerbsOptions& options) {
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
  device.uses_gid = !device.is_iwarp && (device.is_ethernet || !options.gid.empty());
  if (device.uses_gid) {
    const auto table = read_gids(device.context.get(), device.port, device.port_facts.gid_tbl_len);
    auto gid = choose_gid(table, options.gid);
    if (!gid) return error("%s port %u: %s", name, device.port, gid.sentence().c_str());
    device.gid = *gid;
  }
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

Result<Device> open_device(const VerbsOptions& options) {
  register_rdma_providers();
  auto wanted = parse_wanted(options.device);
  if (!wanted) return wanted.error();
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr || count == 0) {
    const int reason = list == nullptr ? errno : 0;
    if (list != nullptr) ibv_free_device_list(list);
    return error(
        "no RDMA device on this host%s%s; is its driver loaded (`ibv_devices`, `rdma link`)?",
        reason != 0 ? ": " : "", reason != 0 ? std::strerror(reason) : "");
  }
  std::vector<Candidate> all;
  for (int i = 0; i < count; ++i) {
    if (wanted->name.empty() || wanted->name == ibv_get_device_name(list[i])) {
      add_ports(list[i], *wanted, all);
    }
  }
  auto chosen = choose(all, options);
  auto opened = chosen ? open_port(*chosen, options) : Result<Device>(chosen.error());
  ibv_free_device_list(list);
  return opened;
}

}  // namespace pinwire::verbs

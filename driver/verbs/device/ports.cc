#include "driver/verbs/device/ports.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "driver/rdma/providers.h"
#include "driver/verbs/device/owned.h"

namespace pinwire::verbs {
namespace {

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
    return error("GASNET_VERBS_DEVICE: %s is not of the form DEVICE or DEVICE:PORT", text.c_str());
  }
  return wanted;
}

/// Ports that will do, and what is wrong with the others.
struct Found {
  std::vector<PortName> good;
  std::string objections;

  void object(ibv_device* device, uint32_t port, const std::string& why) {
    objections += std::string(objections.empty() ? "" : "; ") + ibv_get_device_name(device);
    if (port != 0) objections += " port " + std::to_string(port);
    objections += " " + why;
  }
};

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

void look_at(ibv_device* device, uint32_t wanted_port, bool connects_iwarp, Found& found) {
  if (device->transport_type == IBV_TRANSPORT_IWARP && !connects_iwarp) {
    found.object(device, 0,
                 "is iWARP, whose connections librdmacm makes, and this build has none (install "
                 "librdmacm-dev and build again)");
    return;
  }
  Owned<ibv_context, ibv_close_device> context(ibv_open_device(device));
  if (!context) {
    found.object(device, 0,
                 std::string("cannot be opened: ") + std::strerror(errno) +
                     " (is /dev/infiniband accessible to this user?)");
    return;
  }
  ibv_device_attr limits{};
  if (const int failed = ibv_query_device(context.get(), &limits); failed != 0) {
    found.object(device, 0, std::string("cannot be queried: ") + std::strerror(failed));
    return;
  }
  if (limits.max_qp == 0) {
    found.object(device, 0, "has no reliable connections");
    return;
  }
  for (uint8_t port = 1; port <= limits.phys_port_cnt; ++port) {
    if (wanted_port != 0 && port != wanted_port) continue;
    const std::string objection = objection_to(context.get(), port);
    if (objection.empty()) {
      found.good.push_back({device, port});
    } else {
      found.object(device, port, objection);
    }
  }
}

}  // namespace

Result<DeviceList> DeviceList::make() {
  register_rdma_providers();
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list != nullptr && count != 0) return DeviceList(list, count);
  const int reason = list == nullptr ? errno : 0;
  if (list != nullptr) ibv_free_device_list(list);
  return error(
      "no RDMA device on this host%s%s; is its driver loaded (`ibv_devices`, `rdma link`)?",
      reason != 0 ? ": " : "", reason != 0 ? std::strerror(reason) : "");
}

DeviceList::DeviceList(DeviceList&& other) noexcept
    : list_(std::exchange(other.list_, nullptr)), count_(std::exchange(other.count_, 0)) {}

DeviceList::~DeviceList() {
  if (list_ != nullptr) ibv_free_device_list(list_);
}

Result<std::vector<PortName>> find_ports(const DeviceList& list, const std::string& wanted,
                                         bool connects_iwarp) {
  auto parsed = parse_wanted(wanted);
  if (!parsed) return parsed.error();
  Found found;
  for (ibv_device* device : list) {
    if (parsed->name.empty() || parsed->name == ibv_get_device_name(device)) {
      look_at(device, parsed->port, connects_iwarp, found);
    }
  }
  if (!found.good.empty()) return std::move(found.good);
  if (!found.objections.empty()) {
    return error("no RDMA device will do: %s", found.objections.c_str());
  }
  return error("there is no RDMA device %s; `ibv_devices` lists what there is", wanted.c_str());
}

std::string pci_address(ibv_device* device) {
  const std::string link =
      std::string("/sys/class/infiniband/") + ibv_get_device_name(device) + "/device";
  char target[256];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  if (length <= 0) return {};
  const std::string path(target, static_cast<size_t>(length));
  return path.substr(path.rfind('/') + 1);
}

}  // namespace pinwire::verbs

// The RDMA ports of this host that could carry a job, or why they cannot.
#pragma once

#include <infiniband/verbs.h>

#include <string>
#include <vector>

#include "core/base/result.h"

namespace pinwire::verbs {

/// The devices that libibverbs lists; they live as long as the list.
class DeviceList {
 public:
  /// A sentence if there is none.
  static Result<DeviceList> make();
  DeviceList(DeviceList&& other) noexcept;
  ~DeviceList();

  ibv_device* const* begin() const noexcept { return list_; }
  ibv_device* const* end() const noexcept { return list_ + count_; }

 private:
  DeviceList(ibv_device** list, int count) noexcept : list_(list), count_(count) {}
  ibv_device** list_;
  int count_;
};

struct PortName {
  ibv_device* device = nullptr;
  uint8_t port = 0;
};

/// All ports that will do of those that `wanted` names: "mlx5_0", "mlx5_0:1", or "" for any. Ports
/// of iWARP devices do if `connects_iwarp`: this build can make their connections.
Result<std::vector<PortName>> find_ports(const DeviceList& list, const std::string& wanted,
                                         bool connects_iwarp);

/// "0000:3b:00.0"; "" for a device in software.
std::string pci_address(ibv_device* device);

}  // namespace pinwire::verbs

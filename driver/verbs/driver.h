// The verbs driver: any RDMA device with reliable connections, through libibverbs. Puts and gets
// are RDMA writes and reads straight from and to pinned memory; messages are sends into receive
// queues, shared ones where the device has them, and are handled in place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "driver/verbs/device/options.h"

namespace pinwire {

struct VerbsPort {
  std::string name;         ///< "mlx5_0:1"
  std::string pci_address;  ///< of its device; "": none, it is one in software
};

/// The first port that will do of each device or port in a list, "mlx5_0,mlx5_1:2", or a sentence
/// if one has none; of an empty list, all that will do.
Result<std::vector<VerbsPort>> find_verbs_ports(const std::string& names);

/// Opens the device; a sentence if there is none, or none that will do.
Result<std::unique_ptr<Driver>> make_verbs_driver(const VerbsOptions& options);

}  // namespace pinwire

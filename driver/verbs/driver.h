// The verbs driver: any RDMA device with reliable connections, through libibverbs. Puts and gets
// are RDMA writes and reads straight from and to pinned memory; messages are sends into receive
// queues, shared ones where the device has them, and are handled in place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.h"

namespace pinwire {

struct VerbsOptions {
  std::string device;         ///< "mlx5_0" or "mlx5_0:1"; empty: the first with an active port
  std::string gid;            ///< an index or an address; empty: chosen by kind
  uint32_t pkey = 0;          ///< of the partition, 15 bits; 0: the port's first
  uint8_t service_level = 0;  ///< InfiniBand's, or the priority on Ethernet: 0 to 15
  uint8_t traffic_class =
      0;                  ///< in the global route header: for RoCE v2 the IP header's DSCP and ECN
  uint32_t timeout = 18;  ///< of an acknowledgement: 4.096 us * 2^timeout (IBA 9.7.6.1.3)
  uint32_t retry_count = 6;  ///< repetitions without an answer; 7 means for ever on some devices
  uint32_t connect_timeout_s = 600;  ///< until a rank that does not answer is given up; 0: never
  uint32_t peers_max = 0;            ///< connected at once at each lane; 0: no bound
  bool connects_in_polls = false;    ///< without a thread or a clock: recv() makes connections
  bool pages_on_demand = false;      ///< expose(), where the device has it
  bool shares_receives = true;       ///< shared receive queues, where the device has them
  bool fences_puts = false;          ///< the device may show a message before the data ahead of it
  bool confirms_puts = false;  ///< a put's completion says only that it left: a read confirms it
  bool show_story = false;     ///< log what was chosen
};

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

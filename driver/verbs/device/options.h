// The settings of the verbs driver: which device it opens, and how it uses it.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace pinwire

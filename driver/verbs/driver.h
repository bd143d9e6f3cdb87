// The verbs driver: any RDMA device with reliable connections, through libibverbs. Puts and gets
// are RDMA writes and reads straight from and to pinned memory; messages are sends into shared
// receive queues, handled in place.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/driver.h"

namespace pinwire {

struct VerbsOptions {
  std::string device;  ///< "mlx5_0" or "mlx5_0:1"; empty: the first with an active port
  std::string gid;     ///< an index or an address; empty: chosen by kind
  /// Of ports that will do, by the PCI addresses of their devices ("" for one that has none), the
  /// index of the one to take; empty: the first.
  std::function<uint32_t(const std::vector<std::string>&)> choose;
  uint32_t timeout = 18;     ///< of an acknowledgement: 4.096 us * 2^timeout (IBA 9.7.6.1.3)
  uint32_t retry_count = 6;  ///< repetitions without an answer; 7 means for ever on some devices
  uint32_t connect_timeout_s = 600;  ///< until a rank that does not answer is given up; 0: never
  bool connects_in_polls = false;    ///< without a thread or a clock: recv() makes connections
  bool fences_puts = false;          ///< the device may show a message before the data ahead of it
  bool show_story = false;           ///< log what was chosen
};

/// Opens the device; a sentence if there is none, or none that will do.
Result<std::unique_ptr<Driver>> make_verbs_driver(const VerbsOptions& options);

}  // namespace pinwire

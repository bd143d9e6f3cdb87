// Options of ranks that share this host.
#pragma once

#include <string>

#include "driver/dpdk/bring_up.h"

namespace pinwire {

/// One rank of a job over `fabric`.
inline DpdkOptions options_for(const char* fabric, uint32_t rank, uint32_t ranks,
                               const std::string& directory) {
  DpdkOptions options;
  options.fabric = fabric;
  options.rank = options.host_rank = rank;
  options.rank_count = options.host_rank_count = ranks;
  options.job_directory = directory;
  return options;
}
/// One of two ranks over the interface that join_namespaces() gave it.
inline DpdkOptions packet_options(uint32_t rank, const std::string& directory) {
  DpdkOptions options = options_for("af_packet", rank, 2, directory);
  options.interface = "e0";
  return options;
}

}  // namespace pinwire

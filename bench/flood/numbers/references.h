// The values that the figures are compared with, each as often as it was measured in the run.
#pragma once

#include <cstdint>
#include <vector>

namespace pinwire::flood {

inline constexpr uint64_t kMemcpyBytes = uint64_t{1} << 20;

struct References {
  std::vector<double> barriers_us;
  std::vector<double> line_round_trips_ns;  ///< between the two cores: the floor of shm
  std::vector<double> memcpy_bytes_per_s;   ///< of kMemcpyBytes: the ceiling of shm
};

}  // namespace pinwire::flood

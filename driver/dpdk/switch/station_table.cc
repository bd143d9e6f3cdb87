#include "driver/dpdk/switch/station_table.h"

namespace pinwire {

void StationTable::learn(uint64_t key, uint32_t port) noexcept {
  if (key == 0 || group_address(key)) return;  // no sender has such an address
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    Entry& entry = entries_[slot(key, probe)];
    if (entry.key == key || entry.key == 0) {
      entry = {key, port};
      return;
    }
  }
  entries_[slot(key, 0)] = {key, port};
}

uint32_t StationTable::find(uint64_t key) const noexcept {
  if (key == 0 || group_address(key)) return kUnknown;
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    const Entry& entry = entries_[slot(key, probe)];
    if (entry.key == key) return entry.port;
    if (entry.key == 0) return kUnknown;
  }
  return kUnknown;
}

}  // namespace pinwire

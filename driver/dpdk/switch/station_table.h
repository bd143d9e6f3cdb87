// Which port a MAC address was last heard on. Fixed size; a full neighbourhood evicts.
#pragma once

#include <array>
#include <cstdint>

#include "nicfw/port/port.h"

namespace pinwire {

class StationTable {
 public:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  static uint64_t key(const uint8_t* mac) noexcept {
    uint64_t key = 0;
    for (int i = 0; i < 6; ++i) key = (key << 8) | mac[i];
    return key;
  }
  static bool group_address(uint64_t key) noexcept { return ((key >> 40) & 1) != 0; }

  void learn(uint64_t key, uint32_t port) noexcept;
  uint32_t find(uint64_t key) const noexcept;

 private:
  static constexpr uint32_t kEntries = 1024;
  static constexpr uint32_t kProbes = 8;
  struct Entry {
    uint64_t key = 0;  ///< 0: free (no station has the all-zero address)
    uint32_t port = 0;
  };
  static uint32_t slot(uint64_t key, uint32_t probe) noexcept {
    return (static_cast<uint32_t>((key * 0x9e3779b97f4a7c15u) >> 40) + probe) % kEntries;
  }
  std::array<Entry, kEntries> entries_{};
};

}  // namespace pinwire

// Which words start DPDK's environment abstraction layer (EAL). Pure: what it decides on is passed
// in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace pinwire {

/// Splits like a shell, without its expansions: blanks, '…', "…" and backslash.
Result<std::vector<std::string>> split_words(std::string_view text);

enum class HugePages : uint8_t { kAuto, kNever, kAlways };

struct EalRequest {
  std::vector<std::string> given;  ///< the user's own EAL words (GASNET_EAL_ARGS); they win
  std::string file_prefix;         ///< unique on this host
  std::vector<uint32_t> cpus;      ///< where the caller's threads may run
  bool physical = false;           ///< a PCI device is meant
  HugePages huge = HugePages::kAuto;
  uint64_t memory_bytes = 0;   ///< what this rank needs
  uint32_t ranks_on_host = 1;  ///< that will take huge pages at the same time
  uint64_t huge_bytes_free = 0;
};

struct EalPlan {
  std::vector<std::string> words;  ///< argv without the program's name
  uint64_t file_bytes = 0;         ///< what EAL keeps in a file of memory; 0: nobody knows
  bool in_memory_files = false;    ///< in those of memfd_create(2), not of hugetlbfs
  std::string memory;              ///< which kind of pages and why, for the user
};

/// Do the user's words say which device is meant? If not, the fabric does.
bool names_device(const std::vector<std::string>& words);

EalPlan plan_eal(const EalRequest& request);

}  // namespace pinwire

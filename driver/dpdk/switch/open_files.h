// How many files the switch opens: several for each rank that joins it, so that many ranks on a
// host need more than processes may open by default. A rank whose files find no place there waits
// for its link in vain.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "driver/dpdk/switch/switch_options.h"

namespace pinwire {

/// At most, with all ranks joined.
uint64_t open_files_of(const SwitchOptions& options) noexcept;

/// Lets this process open `count` files, as far as it may itself (the hard limit).
Status let_open_files(uint64_t count);

}  // namespace pinwire

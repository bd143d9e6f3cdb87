// Memory of this process that a peer names in a message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "driver/work.h"

namespace pinwire {

/// This process's memory that rank `source` names, for the CPU to touch, or the end of the job: it
/// may not be trusted to stay inside.
void* own_memory(Rank source, const char* what, uint64_t address, uint64_t bytes) noexcept;

/// Puts `carried` bytes, the last of a Long of `bytes`, where they belong. Returns the Long's
/// memory.
void* place_carried(Rank source, uint64_t address, uint64_t bytes, const std::byte* carried,
                    uint64_t carried_bytes) noexcept;

}  // namespace pinwire

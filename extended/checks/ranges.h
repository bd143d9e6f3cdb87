// Whether the two ends of a put, get or memset are where they may be, checked in debug builds at
// the moment of a breach (C1-295, C1-296). extended/checks/usage.h checks which threads may call at
// all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engine/target.h"

namespace pinwire {

/// [address, address + bytes) is in the segment of `node`.
void check_range(const char* call, uint32_t node, const void* address, size_t bytes) noexcept;
/// `here`, where this process has a transfer's other end, and its own end `local` are not two
/// ranges that overlap; the same bytes twice do no harm (C1-210). Either may be nullptr.
void check_overlap(const char* call, const void* here, const void* local, size_t bytes) noexcept;

/// Both checks for one piece of a call that was checked when it began. Returns where the piece is
/// in this process, or nullptr when it goes through a driver.
void* checked_place(const char* call, Target node, const void* remote, const void* local,
                    size_t bytes) noexcept;

}  // namespace pinwire

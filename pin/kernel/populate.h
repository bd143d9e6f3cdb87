// Pages made before they are pinned: by several threads at once, as a device's driver would make
// them one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/result.h"

namespace pinwire {

/// Touches every page of [base, base + bytes) without changing what is there, with up to `threads`
/// threads. Says every few seconds how far it is.
Status populate(std::byte* base, uint64_t bytes, uint32_t threads);

}  // namespace pinwire

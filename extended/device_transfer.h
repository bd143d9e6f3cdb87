// Puts and gets with device memory of this process at an end: staged through host memory, or copied
// by the device where both ends are here (EX-051). What is device memory at the peer alone goes by
// messages (Reach::kDevice).
#pragma once

#include <cstddef>

#include "core/engine/target.h"

namespace pinwire {

/// Within a segment of the target, and not empty. False: no device memory of this process is in it,
/// and nothing was done; else the transfer is complete. Client context.
bool put_with_device(Target to, void* dest, const void* source, size_t bytes) noexcept;
bool get_with_device(Target from, const void* source, void* dest, size_t bytes) noexcept;

}  // namespace pinwire

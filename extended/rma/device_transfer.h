// Puts and gets with device memory of this process at an end: read and written by the NIC if it
// knows that memory and the peer's, otherwise staged through host memory, or copied by the device
// if both ends are here (EX-051). Device memory at the peer alone that no NIC knows is reached by
// messages (Reach::kDevice).
#pragma once

#include <cstddef>

#include "core/api_types.h"
#include "core/engine/target.h"

namespace pinwire {

/// The part of a transfer that is left to do.
enum class DeviceEnd : uint8_t {
  kNone,    ///< all: no device memory of this process is in it
  kDirect,  ///< all, and the route's driver knows it: the end here is for kWorkDevice
  kDone,    ///< nothing
};

/// Start a transfer with host memory at the end here. Its source stays until `op` is finished.
using StartPiecePut = void (*)(Target to, std::byte* dest, const std::byte* source, size_t bytes,
                               pinwire_op& op) noexcept;
using StartPieceGet = void (*)(Target from, const std::byte* source, std::byte* dest, size_t bytes,
                               pinwire_op& op) noexcept;

/// Within a segment of the target, and not empty. Client context. `start` carries the pieces of
/// what is staged.
DeviceEnd put_with_device(Target to, void* dest, const void* source, size_t bytes,
                          StartPiecePut start) noexcept;
DeviceEnd get_with_device(Target from, const void* source, void* dest, size_t bytes,
                          StartPieceGet start) noexcept;

}  // namespace pinwire

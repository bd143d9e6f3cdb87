// A bupc_handle_t is a gasnet_handle_t under another name, and a thread of UPC a node (UPC-002,
// UPC-041).
#pragma once

#include "core/api/bupc_memcpy.h"
#include "core/api/gasnet.h"
#include "core/api/gasnet_vis.h"
#include "core/api/pinwire.h"

namespace pinwire::upc {

inline bupc_handle_t bupc_of(gasnet_handle_t handle) noexcept {
  return reinterpret_cast<bupc_handle_t>(handle);
}
inline gasnet_handle_t gasnet_of(bupc_handle_t handle) noexcept {
  return reinterpret_cast<gasnet_handle_t>(handle);
}
inline gasnet_handle_t* gasnet_of(bupc_handle_t* handles) noexcept {
  return reinterpret_cast<gasnet_handle_t*>(handles);
}

/// GASNet-1 writes no const where it only reads.
inline void* readable(const void* source) noexcept { return const_cast<void*>(source); }

}  // namespace pinwire::upc

// Memory of a device that the CPU does not touch (EX-043 to EX-052): whatever reads or writes it
// goes through the vendor's library, which is loaded when a kind is made. One file for each vendor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/base/result.h"
#include "core/engine/engine.h"

namespace pinwire {

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// "CUDA device 0", for sentences.
  virtual const char* label() const noexcept = 0;
  virtual Result<void*> allocate(uint64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Whether all of that memory is this device's, as the vendor's library sees it.
  virtual Status owns(const void* memory, uint64_t bytes) = 0;
  /// A dma-buf of these whole pages, by which another device reaches them; the caller closes it.
  virtual Result<int> export_dmabuf(const void* base, uint64_t bytes) {
    (void)base, (void)bytes;
    return error("%s hands out no dma-buf", label());
  }
  /// Either end, or both, in this device's memory, the other in the host's: addresses are unified.
  /// The bytes are there on return. Any thread, also handlers', but not in signals; takes as long
  /// as the device does, without waiting for the client's own work on it. The job ends where the
  /// vendor's library fails.
  virtual void copy(void* to, const void* from, uint64_t bytes) noexcept = 0;
};

/// A new `Memory` of these facts, once its open() has succeeded. The caller owns the result.
template <typename Memory, typename... Facts>
Result<DeviceMemory*> open_memory(const Facts&... facts) {
  auto memory = std::make_unique<Memory>(facts...);
  if (const Status opened = memory->open(); !opened) return opened.error();
  return static_cast<DeviceMemory*>(memory.release());
}

/// Open devices by the numbers, or handles, of gex_MK_Create_args_t. Errors: the library, the
/// device or a feature is not there. The caller owns the result.
Result<DeviceMemory*> open_cuda(int device);
Result<DeviceMemory*> open_hip(int device);
Result<DeviceMemory*> open_ze(void* device, void* context, uint32_t memory_ordinal);

/// The device of this memory: that of a segment of this process that was bound; nullptr: the host's
/// memory. Any context.
inline DeviceMemory* device_at(const void* address, uint64_t bytes) noexcept {
  if (!engine.has_devices.load(std::memory_order_relaxed) || bytes == 0) [[likely]]
    return nullptr;
  const auto at = reinterpret_cast<uint64_t>(address);
  const BoundRange* range = engine.bound.find_device(at, bytes);
  if (range == nullptr) return nullptr;
  if (!inside(at, bytes, range->base, range->bytes)) {
    fatal("%llu bytes at %p reach beyond a segment of %s, %llu bytes at 0x%llx (GX-126)",
          static_cast<unsigned long long>(bytes), address, range->device->label(),
          static_cast<unsigned long long>(range->bytes),
          static_cast<unsigned long long>(range->base));
  }
  return range->device;
}

/// Checks memory that CPUs read or write: ends the job if it is a device's.
inline void check_is_hosts(const char* what, const void* address, uint64_t bytes) noexcept {
  if (const DeviceMemory* device = device_at(address, bytes)) [[unlikely]] {
    fatal("%s, %llu bytes at %p, is memory of %s, and has to be the host's: copy it first", what,
          static_cast<unsigned long long>(bytes), address, device->label());
  }
}

}  // namespace pinwire

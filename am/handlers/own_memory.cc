#include "am/handlers/own_memory.h"

#include <cstring>

#include "core/base/log.h"
#include "core/engine/engine.h"
#include "segment/kinds/device_memory.h"

namespace pinwire {

void* own_memory(Rank source, const char* what, uint64_t address, uint64_t bytes) noexcept {
  if (DeviceMemory* device = device_at(reinterpret_cast<void*>(address), bytes)) [[unlikely]] {
    fatal("rank %u asked for a %s of %llu bytes at 0x%llx, which is memory of %s: not for the CPU",
          source, what, static_cast<unsigned long long>(bytes),
          static_cast<unsigned long long>(address), device->label());
  }
  const bool is_own = engine.owns(address, bytes) || engine.bound.find(address, bytes) != nullptr;
  if (!is_own) [[unlikely]] {
    fatal("rank %u asked for a %s of %llu bytes at 0x%llx, outside the segments here", source, what,
          static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address));
  }
  return reinterpret_cast<void*>(address);
}

void* place_carried(Rank source, uint64_t address, uint64_t bytes, const std::byte* carried,
                    uint64_t carried_bytes) noexcept {
  dcheck(carried_bytes <= bytes, "a message carries more than the Long has", carried_bytes, bytes);
  auto* memory = reinterpret_cast<std::byte*>(address);
  if (DeviceMemory* device = device_at(memory, bytes)) [[unlikely]] {
    device->copy(memory + (bytes - carried_bytes), carried, carried_bytes);
  } else {
    own_memory(source, "Long", address, bytes);
    std::memcpy(memory + (bytes - carried_bytes), carried, carried_bytes);
  }
  return memory;
}

}  // namespace pinwire

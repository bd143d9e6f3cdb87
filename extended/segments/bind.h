// Segments that gex_Segment_Create made: their memory, and what the drivers are told of it once an
// endpoint is bound to one (EX-053 to EX-071).
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/engine/engine.h"
#include "extended/state/objects.h"

namespace pinwire {

/// The facts that a process tells others about the segment of one of its endpoints; 0 bytes: the
/// endpoint has none.
struct BoundFacts {
  uint64_t base;
  uint64_t bytes;
  uint64_t serial;  ///< counts this process's segments: tells one from an earlier at its place
  uint64_t inode;   ///< of the memory's file
  uint32_t endpoint;
  int32_t pid;
  int32_t fd;                  ///< of the memory's file, which peers map; -1: it has none
  uint32_t keys[kDriversMax];  ///< by driver index, as all below
  Reach reach[kDriversMax];    ///< kWhole or kMessages; of device memory kWhole or kDevice
  bool is_device;
};

/// `base`: nullptr for memory of the library's. Errors: there is not so much.
Result<pinwire_segment*> create_segment_object(pinwire_client* client, void* base, uint64_t bytes);
/// The same in memory of a device.
Result<pinwire_segment*> create_device_segment(pinwire_client* client, pinwire_mk& kind, void* base,
                                               uint64_t bytes);
/// Takes back whatever bind_segment() told, and the memory if it is the library's.
void destroy_segment_object(pinwire_segment* segment);

/// Tells the drivers, if no other endpoint of this process has it; peers may ask from now on.
Status bind_segment(pinwire_ep& endpoint, pinwire_segment& segment);

/// The facts about an endpoint of this process. Any context, any thread.
BoundFacts own_bound_facts(uint32_t endpoint) noexcept;

}  // namespace pinwire

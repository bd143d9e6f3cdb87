// In the place of core/api/pinwire.h where flood is built over another GASNet, so that both are
// measured by the same program: what flood asks for and a GASNet of another maker does not tell.
#pragma once

#include <gasnet.h>

#include <cstddef>
#include <cstdint>

struct pinwire_stat_t {
  const char* name;
  uint64_t value;
};

inline size_t pinwire_stats(pinwire_stat_t*, size_t) { return 0; }
inline const char* pinwire_driver_name(gasnet_node_t) { return GASNET_CONDUIT_NAME_STR; }
inline const char* pinwire_dispatch() { return "poll"; }
/// The limits that GASNet-EX has by default.
inline uint32_t pinwire_network_depth() { return 256; }
inline uint32_t pinwire_lanes() { return 1; }
inline uint32_t pinwire_my_lane() { return 0; }

// The objects of the GASNet-EX API (GX-052 to GX-056): one client, its endpoint, the team of all
// such endpoints, a segment. GASNet-1 has the same ones, without names for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/api_types.h"

struct pinwire_client {
  std::string name;
  gex_Flags_t flags = 0;
  const void* client_data = nullptr;
};

struct pinwire_segment {
  pinwire_client* client = nullptr;
  void* base = nullptr;
  uint64_t bytes = 0;
  const void* client_data = nullptr;
};

struct pinwire_ep {
  pinwire_client* client = nullptr;
  pinwire_segment* segment = nullptr;  ///< bound to it
  gex_EP_Index_t index = 0;
  const void* client_data = nullptr;
  gex_AM_Entry_t handlers[256] = {};  ///< as registered; the functions are in am/handlers.h
};

namespace pinwire {
struct Member;
}

struct pinwire_tm {
  pinwire_members members{};       ///< first: the headers' inlined calls read it
  pinwire_ep* endpoint = nullptr;  ///< of this process
  gex_Rank_t rank = 0;
  gex_Rank_t size = 0;
  const void* client_data = nullptr;
  pinwire::Member* member = nullptr;  ///< its collectives (extended/coll)
};
static_assert(offsetof(pinwire_tm, members) == 0);

namespace pinwire {

/// nullptr before the job has begun. Not destroyed.
struct Objects {
  pinwire_client* client = nullptr;
  pinwire_ep* endpoint = nullptr;
  pinwire_tm* team = nullptr;
  pinwire_segment* segment = nullptr;
};
extern Objects objects;

/// At the end of gex_Client_Init, and of gasnet_init for what uses both APIs.
void make_objects(const char* client_name, gex_Flags_t flags);
/// Binds the process's segment, once it is attached.
void make_segment_object(void* base, uint64_t bytes);

/// What the headers' inlined calls read: ranks, after job_init(); the limits of messages, after the
/// drivers are connected. `is_final`: as for am_limits().
void publish_ranks();
void set_limits(bool is_final) noexcept;

/// gex_System_SetVerboseErrors: whether calls that return an error say why.
extern bool tells_errors;
[[gnu::format(printf, 2, 3)]] int api_error(int code, const char* format, ...) noexcept;

}  // namespace pinwire

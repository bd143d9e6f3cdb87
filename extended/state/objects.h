// The objects of the GASNet-EX API (GX-052 to GX-056): one client, its endpoint, the team of all
// such endpoints, a segment. GASNet-1 has the same ones, without names for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/api_types.h"
#include "core/base/result.h"
#include "core/engine/engine.h"
#include "extended/state/team_tables.h"
#include "segment/kinds/device_memory.h"
#include "segment/memory.h"

namespace pinwire {
/// The pointer that a client keeps with an object: set and read by any thread, in handlers, too
/// (GX-016).
class ClientData {
 public:
  void set(const void* value) noexcept { value_.store(value, std::memory_order_release); }
  void* get() const noexcept {
    return const_cast<void*>(value_.load(std::memory_order_acquire));  // pairs with set()
  }

 private:
  std::atomic<const void*> value_{nullptr};
};
}  // namespace pinwire

struct pinwire_client {
  std::string name;
  gex_Flags_t flags = 0;
  pinwire::ClientData client_data;
};

namespace pinwire {
struct Registration;
}

/// A memory kind of gex_MK_Create; GEX_MK_HOST is none of these.
struct pinwire_mk {
  pinwire_client* client = nullptr;
  gex_MK_Class_t kind_class = GEX_MK_CLASS_HOST;
  pinwire::ClientData client_data;
  std::unique_ptr<pinwire::DeviceMemory> device;
  std::atomic<uint32_t> segments{0};  ///< of this kind that there are
};

struct pinwire_segment {
  pinwire_client* client = nullptr;
  void* base = nullptr;
  uint64_t bytes = 0;
  pinwire::ClientData client_data;
  pinwire::SegmentMemory memory;  ///< of gex_Segment_Create: fd -1 where it is the client's
  const pinwire::Registration* registration = nullptr;  ///< once an endpoint was bound to it
  pinwire_mk* kind = nullptr;                           ///< nullptr: the host's
  bool is_owned_by_library = false;                     ///< memory of a device that it allocated
};

struct pinwire_ep {
  pinwire_client* client = nullptr;
  pinwire_segment* segment = nullptr;  ///< bound to it
  gex_EP_Index_t index = 0;
  gex_EP_Capabilities_t capabilities = GEX_EP_CAPABILITY_ALL;
  gex_Flags_t flags = 0;
  pinwire::ClientData client_data;
  /// As registered; the functions are in am/handlers/handlers.h.
  gex_AM_Entry_t handlers[256] = {};
};

namespace pinwire {
struct Member;
struct TeamTables;
}  // namespace pinwire

struct pinwire_tm {
  pinwire_members members{};       ///< first: the headers' inlined calls read it
  pinwire_ep* endpoint = nullptr;  ///< of this process
  gex_Rank_t rank = 0;
  gex_Rank_t size = 0;
  pinwire::ClientData client_data;
  pinwire::Member* member = nullptr;  ///< its collectives (extended/coll)
  gex_Flags_t flags = 0;              ///< as it was made with
  gex_Memvec_t scratch{};             ///< of the client, which gets it back; coll/scratch_parts.h
  std::unique_ptr<pinwire::TeamTables> tables;  ///< nullptr: of gex_Client_Init
};
static_assert(offsetof(pinwire_tm, members) == 0);

namespace pinwire {

/// nullptr before the job has begun. Not destroyed.
struct Objects {
  pinwire_client* client = nullptr;
  pinwire_ep* endpoint = nullptr;             ///< the first
  pinwire_ep* endpoints[kEndpointsMax] = {};  ///< by index
  std::atomic<uint32_t> endpoint_count{0};
  pinwire_tm* team = nullptr;
  pinwire_segment* segment = nullptr;
};
extern Objects objects;

/// Binds the process's segment, once it is attached.
void make_segment_object(void* base, uint64_t bytes);

/// nullptr: there are GASNET_MAXEPS already. Any thread.
pinwire_ep* make_endpoint(gex_EP_Capabilities_t capabilities, gex_Flags_t flags);

// Teams, or TM-pairs: a local endpoint and the index of the remote ones, in the word itself.

inline bool is_pair(gex_TM_t tm) noexcept { return (reinterpret_cast<uintptr_t>(tm) & 1) != 0; }
inline pinwire_ep& endpoint_in(gex_TM_t tm) noexcept {
  constexpr uintptr_t kAddress = (uintptr_t{1} << PINWIRE_PAIR_SHIFT) - 2;
  if (!is_pair(tm)) return *tm->endpoint;
  return *reinterpret_cast<pinwire_ep*>(reinterpret_cast<uintptr_t>(tm) & kAddress);
}
/// How many ranks may be named by it: of the team, or of the job.
inline gex_Rank_t ranks_in(gex_TM_t tm) noexcept {
  return is_pair(tm) ? engine.rank_count : tm->size;
}

/// Publish the data that the headers' inlined calls read: ranks, after job_init(); the limits of
/// messages, after the drivers are connected. `is_final`: as for am_limits().
void publish_ranks();
void set_limits(bool is_final) noexcept;

/// gex_System_SetVerboseErrors: whether calls that return an error say why.
extern std::atomic<bool> tells_errors;
[[gnu::format(printf, 2, 3)]] int api_error(int code, const char* format, ...) noexcept;
/// GASNET_ERR_RESOURCE, with what the status says.
int api_failure(const char* call, const Status& status) noexcept;

}  // namespace pinwire

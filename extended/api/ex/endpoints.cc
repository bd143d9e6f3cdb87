// gasnetex.h: the C entry points of endpoints and segments (GX-062 to GX-067, GX-074 to GX-079,
// EX-001 to EX-086).
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/checks/usage.h"
#include "extended/job/begin.h"
#include "extended/segments/bind.h"
#include "extended/segments/remote.h"
#include "extended/state/failed_start.h"
#include "extended/state/objects.h"
#include "extended/team/publish_bound.h"

using namespace pinwire;

namespace {

int bad_segment_arguments(const void* segment_p, gex_Client_t client, const void* address,
                          uintptr_t length, gex_MK_t kind, gex_Flags_t flags) noexcept {
  const bool is_hosts = kind == GEX_MK_HOST;
  const char* why = nullptr;
  if (segment_p == nullptr || client == GEX_CLIENT_INVALID) {
    why = "it wants a client, and where to write the segment (EX-053)";
  } else if (length == 0) {
    why = "a segment has at least one byte (EX-056, EX-058)";
  } else if (kind == GEX_MK_INVALID) {
    why = "GEX_MK_INVALID is no kind of memory (EX-060)";
  } else if (is_hosts && address == nullptr && length > job()->segment_limit_local) {
    why = "the library allocates at most gasnet_getMaxLocalSegmentSize() bytes (EX-056)";
  } else if (reinterpret_cast<uintptr_t>(address) > ~length) {
    why = "the memory ends beyond the address space (EX-058)";
  } else if (flags != 0) {
    why = "it has no flags (EX-061)";
  }
  return why == nullptr ? GASNET_OK : api_error(GASNET_ERR_BAD_ARG, "gex_Segment_Create: %s", why);
}

/// Where this process has that memory mapped, or nullptr.
void* mapped_here(Target target, const Route& route) noexcept {
  if (route.is_device) return nullptr;
  if (route.driver == nullptr) return reinterpret_cast<void*>(route.segment_base);
  const struct pinwire_reach& reach = ::pinwire_reach[target];
  return reach.mapped != 0 ? reinterpret_cast<void*>(route.segment_base + reach.delta) : nullptr;
}

/// False: it has none.
bool describe_segment(Target target, void** owneraddr_p, void** localaddr_p, uintptr_t* size_p) {
  const Route& route = engine.routes[target];
  const uint64_t bytes = route.known_bytes();
  if (bytes == 0) return false;
  if (owneraddr_p != nullptr) *owneraddr_p = reinterpret_cast<void*>(route.segment_base);
  if (localaddr_p != nullptr) *localaddr_p = mapped_here(target, route);
  if (size_p != nullptr) *size_p = bytes;
  return true;
}

Target target_of_query(const char* call, gex_TM_t tm, gex_Rank_t rank) noexcept {
  if (rank >= ranks_in(tm)) fatal("%s of rank %u, of %u (GX-077)", call, rank, ranks_in(tm));
  return pinwire_target(tm, rank);
}

}  // namespace

extern "C" {

int gex_Segment_Attach(gex_Segment_t* segment_p, gex_TM_t tm, uintptr_t size) {
  const RareCall inside;
  refuse_after_failed_start("gex_Segment_Attach");
  if (objects.team == nullptr || tm != objects.team || segment_p == nullptr) {
    return api_error(GASNET_ERR_BAD_ARG,
                     "gex_Segment_Attach wants the team of gex_Client_Init, and where to write the "
                     "segment (GX-063)");
  }
  const bool is_all = job()->kind == SegmentKind::kEverything;
  if ((job()->has_segments && !is_all) || objects.endpoint->segment != nullptr) {
    return api_error(GASNET_ERR_BAD_ARG,
                     "gex_Segment_Attach is called once in a process, whose first endpoint has no "
                     "segment yet (GX-063, EX-067)");
  }
  if (!is_all && (size == 0 || size % GASNET_PAGESIZE != 0 || size > job()->segment_limit_local)) {
    return api_error(GASNET_ERR_BAD_ARG,
                     "gex_Segment_Attach: %llu bytes are no multiple of %d from there to %llu, "
                     "which gasnet_getMaxLocalSegmentSize() tells (GX-063)",
                     static_cast<unsigned long long>(size), GASNET_PAGESIZE,
                     static_cast<unsigned long long>(job()->segment_limit_local));
  }
  *segment_p = GEX_SEGMENT_INVALID;
  if (const Status status = job_attach_later(size); !status) {
    return api_failure("gex_Segment_Attach", status);
  }
  if (is_all) return GASNET_OK;
  make_segment_object(job()->segment.base, job()->segment_bytes);
  *segment_p = objects.segment;
  return GASNET_OK;
}

int gex_Segment_Create(gex_Segment_t* segment_p, gex_Client_t client, gex_Addr_t address,
                       uintptr_t length, gex_MK_t kind, gex_Flags_t flags) {
  const RareCall inside;
  refuse_after_failed_start("gex_Segment_Create");
  if (const int bad = bad_segment_arguments(segment_p, client, address, length, kind, flags)) {
    return bad;
  }
  const bool is_hosts = kind == GEX_MK_HOST;
  if (!is_hosts && address != nullptr) {
    if (const Status owned = kind->device->owns(address, length); !owned) {
      return api_error(GASNET_ERR_BAD_ARG, "gex_Segment_Create: %s (EX-060)",
                       owned.sentence().c_str());
    }
  }
  auto segment = is_hosts ? create_segment_object(client, address, length)
                          : create_device_segment(client, *kind, address, length);
  if (!segment) return api_failure("gex_Segment_Create", segment.error());
  *segment_p = *segment;
  return GASNET_OK;
}

void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t) {
  if (segment == GEX_SEGMENT_INVALID || segment == objects.segment) {
    fatal("gex_Segment_Destroy takes what gex_Segment_Create made (EX-084)");
  }
  const ClientCall inside("gex_Segment_Destroy");
  destroy_segment_object(segment);
}

int gex_EP_Create(gex_EP_t* ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
                  gex_Flags_t flags) {
  const RareCall inside;
  if (ep_p == nullptr || client == GEX_CLIENT_INVALID || capabilities == 0 ||
      (capabilities & ~GEX_EP_CAPABILITY_ALL) != 0 || (flags & ~GEX_FLAG_HINT_ACCEL_ALL) != 0) {
    return api_error(
        GASNET_ERR_BAD_ARG,
        "gex_EP_Create: capabilities 0x%x, flags 0x%x; it takes one "
        "GEX_EP_CAPABILITY_... or more, and GEX_FLAG_HINT_ACCEL_... (EX-007 to EX-010)",
        capabilities, flags);
  }
  pinwire_ep* made = make_endpoint(capabilities, flags);
  if (made == nullptr) {
    return api_error(GASNET_ERR_RESOURCE, "gex_EP_Create: there are GASNET_MAXEPS, %d, already",
                     GASNET_MAXEPS);
  }
  trace_line('O', "endpoint %u created", made->index);
  *ep_p = made;
  return GASNET_OK;
}

int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags) {
  if (ep == GEX_EP_INVALID || segment == GEX_SEGMENT_INVALID || ep->segment != nullptr ||
      segment == objects.segment || flags != 0) {
    return api_error(GASNET_ERR_BAD_ARG,
                     "gex_EP_BindSegment binds an endpoint without a segment to one of "
                     "gex_Segment_Create, without flags (EX-067, EX-069)");
  }
  if (segment->kind != nullptr && ep == objects.endpoint) {
    return api_error(GASNET_ERR_BAD_ARG,
                     "gex_EP_BindSegment of the first endpoint to a segment of %s: it takes the "
                     "host's memory; create another with gex_EP_Create (EX-067)",
                     segment->kind->device->label());
  }
  const ClientCall inside("gex_EP_BindSegment");
  if (const Status bound = bind_segment(*ep, *segment); !bound) {
    return api_failure("gex_EP_BindSegment", bound);
  }
  learn_segment(target_of(engine.rank, ep->index));
  return GASNET_OK;
}

void gex_Segment_EP_Bind(gex_Segment_t segment, gex_EP_t ep, gex_Flags_t flags) {
  if (const int code = gex_EP_BindSegment(ep, segment, flags)) {
    fatal("gex_Segment_EP_Bind: %s", gasnet_ErrorName(code));
  }
}

int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t* eps, size_t num_eps, gex_Flags_t flags) {
  if (is_pair(tm) || (eps == nullptr && num_eps != 0) || flags != 0) {
    return api_error(GASNET_ERR_BAD_ARG,
                     "gex_EP_PublishBoundSegment takes a team, endpoints, and no flags (EX-080)");
  }
  const ClientCall inside("gex_EP_PublishBoundSegment");
  if (const Status told = publish_bound(tm, eps, num_eps); !told) {
    return api_failure("gex_EP_PublishBoundSegment", told);
  }
  return GASNET_OK;
}

void gex_EP_SetCData(gex_EP_t ep, const void* val) { ep->client_data.set(val); }
void* gex_EP_QueryCData(gex_EP_t ep) { return ep->client_data.get(); }
gex_Client_t gex_EP_QueryClient(gex_EP_t ep) { return ep->client; }
gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep) { return ep->flags; }
gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep) { return ep->segment; }
gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep) { return ep->index; }

void gex_Segment_SetCData(gex_Segment_t segment, const void* val) { segment->client_data.set(val); }
void* gex_Segment_QueryCData(gex_Segment_t segment) { return segment->client_data.get(); }
gex_Client_t gex_Segment_QueryClient(gex_Segment_t segment) { return segment->client; }
gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t) { return 0; }
void* gex_Segment_QueryAddr(gex_Segment_t segment) { return segment->base; }
uintptr_t gex_Segment_QuerySize(gex_Segment_t segment) { return segment->bytes; }

gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                       void** localaddr_p, uintptr_t* size_p, gex_Flags_t flags) {
  const RareCall inside;
  refuse_after_failed_start("gex_EP_QueryBoundSegmentNB");
  const Target target = target_of_query("gex_EP_QueryBoundSegmentNB", tm, rank);
  if (describe_segment(target, owneraddr_p, localaddr_p, size_p)) return GEX_EVENT_INVALID;
  // This rank's own segments and those of attach (endpoint 0) are known here: there is nothing to
  // ask. The process of any other endpoint knows its segment.
  const bool is_settled = rank_of(target) == engine.rank || endpoint_of(target) == 0;
  if (!is_settled && (flags & GEX_FLAG_IMMEDIATE) != 0) return GEX_EVENT_NO_OP;
  if (size_p != nullptr) *size_p = 0;
  if ((flags & GEX_FLAG_IMMEDIATE) == 0 && learn_segment(target)) {
    describe_segment(target, owneraddr_p, localaddr_p, size_p);
  }
  return GEX_EVENT_INVALID;
}

int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p, void** localaddr_p,
                           uintptr_t* size_p) {
  const RareCall inside;
  refuse_after_failed_start("gex_Segment_QueryBound");
  const Target target = target_of_query("gex_Segment_QueryBound", tm, rank);
  if (describe_segment(target, owneraddr_p, localaddr_p, size_p)) return GASNET_OK;
  if (!learn_segment(target)) return 1;
  return describe_segment(target, owneraddr_p, localaddr_p, size_p) ? GASNET_OK : 1;
}

gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index) {
  check(local_ep != GEX_EP_INVALID && remote_ep_index < kEndpointsMax,
        "gex_TM_Pair of an endpoint, and an index below GASNET_MAXEPS (EX-127)", remote_ep_index);
  const auto word = reinterpret_cast<uintptr_t>(local_ep);
  check(word % 2 == 0 && word >> PINWIRE_PAIR_SHIFT == 0, "an endpoint's address leaves room",
        word);
  return reinterpret_cast<gex_TM_t>(word | uintptr_t{remote_ep_index} << PINWIRE_PAIR_SHIFT | 1);
}

}  // extern "C"

// gasnetex.h: the C entry points of the client (GX-052 to GX-061).
#include "core/base/log.h"
#include "core/base/no_cancel.h"
#include "core/base/out_of_memory.h"
#include "core/engine/engine.h"
#include "extended/api/identity.h"
#include "extended/barrier/barrier.h"
#include "extended/job/begin.h"
#include "extended/rma/sync.h"
#include "extended/state/failed_start.h"
#include "extended/state/objects.h"
#include "extended/team/team.h"

using namespace pinwire;

namespace {

Status look_at_arguments(const void* client_p, const void* ep_p, const void* tm_p, const char* name,
                         gex_Flags_t flags) {
  constexpr gex_Flags_t kKnown = GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS;
  if (client_p == nullptr || ep_p == nullptr || tm_p == nullptr) {
    return error(
        "it writes a client, an endpoint and a team: none of the three pointers may be NULL "
        "(GX-058)");
  }
  if (name == nullptr || name[0] == '\0') {  // GX-059 wants capitals; clients do not mind
    return error("a client has a name (GX-059)");
  }
  if ((flags & ~kKnown) != 0) return error("unknown flags 0x%x", flags & ~kKnown);
  return success();
}

}  // namespace

extern "C" {

int pinwire_client_init(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p, const char* name,
                        gex_Flags_t flags, int segment_kind, const char* config) {
  const NoCancel whole;
  const FatalOutOfMemory has_memory;
  keep_idents();
  if (job() != nullptr) {
    return api_error(
        GASNET_ERR_NOT_INIT,
        "gex_Client_Init was called again, or after gasnet_init; a process starts once "
        "(GX-006)");
  }
  forget_failed_start();
  const auto failed = [&](const Status& why, int code = GASNET_ERR_RESOURCE) {
    note_failed_start("gex_Client_Init", why);
    give_objects_of_failed_start(client_p, ep_p, tm_p);
    return api_error(code, "%s", start_failure);
  };
  if (const Status good = look_at_arguments(client_p, ep_p, tm_p, name, flags); !good)
    return failed(good, GASNET_ERR_BAD_ARG);
  Status status = check_units(config);
  if (status) status = job_init(static_cast<SegmentKind>(segment_kind), config);
  if (!status) return failed(status);
  publish_ranks();
  make_objects(name, flags);
  events_move = true;
  barriers_of_ex = true;
  if (status = job_connect(); !status) return failed(status);
  // Limits stay as they are for the whole job (GX-093), and FAST reaches segments whole, or not.
  set_limits(job()->has_segments || job()->kind == SegmentKind::kFast);
  if (status = job_begin(); !status) return failed(status);
  *client_p = objects.client;
  *ep_p = objects.endpoint;
  *tm_p = objects.team;
  return GASNET_OK;
}

void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p, gex_TM_t* tm_p,
                            gex_Segment_t* segment_p) {
  if (client_p != nullptr) *client_p = objects.client;
  if (endpoint_p != nullptr) *endpoint_p = objects.endpoint;
  if (tm_p != nullptr) *tm_p = objects.team;
  if (segment_p != nullptr && objects.segment != nullptr) *segment_p = objects.segment;
}

void gex_Client_SetCData(gex_Client_t client, const void* val) { client->client_data.set(val); }
void* gex_Client_QueryCData(gex_Client_t client) { return client->client_data.get(); }

gex_Flags_t gex_Client_QueryFlags(gex_Client_t client) { return client->flags; }
const char* gex_Client_QueryName(gex_Client_t client) { return client->name.c_str(); }

}  // extern "C"

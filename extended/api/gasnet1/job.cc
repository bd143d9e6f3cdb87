// gasnet.h, 2.1 and 2.2: the C entry points of job control and job environment.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "am/handlers/handlers.h"
#include "am/send/limits.h"
#include "core/api_types.h"
#include "core/base/log.h"
#include "core/base/memory/reserve.h"
#include "core/base/no_cancel.h"
#include "core/base/out_of_memory.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/api/identity.h"
#include "extended/job/begin.h"
#include "extended/job/exit.h"
#include "extended/state/failed_start.h"
#include "extended/state/objects.h"
#include "extended/team/team.h"

gasnet_node_t gasneti_mynode = static_cast<gasnet_node_t>(-1);
gasnet_node_t gasneti_nodes = 0;
int pinwire_has_interrupts = 0;
/// Weak, as a client may define the variable instead of storing into it.
[[gnu::weak]] void (*gasnet_client_attach_hook)(void* segment, uintptr_t bytes) = nullptr;
size_t pinwire_max_medium = 512;
size_t pinwire_max_long = 512;
size_t pinwire_max_long_reply = 512;
struct pinwire_reach* pinwire_reach = nullptr;

namespace pinwire {

void publish_ranks() {
  gasneti_mynode = engine.rank;
  gasneti_nodes = engine.rank_count;
  // Nothing is reachable before attach: inlined puts and gets go to where that is said.
  ::pinwire_reach =
      reserve_table<struct pinwire_reach>(kTargetsMax, "the segments of all endpoints");
}

void set_limits(bool is_final) noexcept {
  const AmLimits limits = am_limits(is_final);
  pinwire_max_medium = limits.medium_bytes_max;
  pinwire_max_long = limits.long_bytes_max;
  pinwire_max_long_reply = limits.long_reply_bytes_max;
}

}  // namespace pinwire

using namespace pinwire;

namespace {

int start_failed(const char* call, const Status& status, int code = GASNET_ERR_RESOURCE) {
  log_warning("%s failed: %s", call, status.sentence().c_str());
  note_failed_start(call, status);
  return code;
}

}  // namespace

extern "C" {

int PINWIRE_INIT_SYMBOL(int*, char***, int segment_kind, const char* config) {
  const NoCancel whole;
  const FatalOutOfMemory has_memory;
  keep_idents();
  if (job() != nullptr) {
    log_warning("gasnet_init was called again; it may be called once per process (C1-058)");
    return GASNET_ERR_NOT_INIT;
  }
  forget_failed_start();
  Status status = check_units(config);
  if (status) status = job_init(static_cast<SegmentKind>(segment_kind), config);
  if (!status) return start_failed("gasnet_init", status);
  publish_ranks();
  make_objects("LEGACY", GEX_FLAG_USES_GASNET1);
  return GASNET_OK;
}

int gasnet_attach(gasnet_handlerentry_t* table, int numentries, uintptr_t segsize, uintptr_t) {
  const NoCancel whole;
  const FatalOutOfMemory has_memory;
  if (job() == nullptr || job()->attached) {
    log_warning("gasnet_attach is called once, after gasnet_init (C1-088)");
    return GASNET_ERR_NOT_INIT;
  }
  forget_failed_start();
  const bool has_segment = job()->kind != SegmentKind::kEverything;
  if ((has_segment && segsize % GASNET_PAGESIZE != 0) || numentries < 0 ||
      (table == nullptr && numentries != 0)) {
    return start_failed(
        "gasnet_attach",
        error("the segment size %llu must be a multiple of %d, and the table must have its %d "
              "entries",
              static_cast<unsigned long long>(segsize), GASNET_PAGESIZE, numentries),
        GASNET_ERR_BAD_ARG);
  }
  std::vector<HandlerEntry> entries;
  for (int i = 0; i < numentries; ++i) {
    entries.push_back({table[i].index, reinterpret_cast<HandlerFunction>(table[i].fnptr)});
  }
  if (const Status table_ok = register_client(0, entries.data(), entries.size()); !table_ok) {
    return start_failed("gasnet_attach", table_ok, GASNET_ERR_BAD_ARG);
  }
  if (const Status attached = job_attach(segsize); !attached)
    return start_failed("gasnet_attach", attached);
  for (int i = 0; i < numentries; ++i) {
    table[i].index = entries[static_cast<size_t>(i)].index;
    trace_line('O', "handler %u registered", table[i].index);
  }
  set_limits(true);
  if (job()->segment_bytes != 0) make_segment_object(job()->segment.base, job()->segment_bytes);
  if (const Status begun = job_begin(); !begun) return start_failed("gasnet_attach", begun);
  return GASNET_OK;
}

uintptr_t gasnet_getMaxLocalSegmentSize() {
  return job() != nullptr ? job()->segment_limit_local : 0;
}
uintptr_t gasnet_getMaxGlobalSegmentSize() {
  return job() != nullptr ? job()->segment_limit_global : 0;
}

void gasnet_exit(int exitcode) {
  if (start_has_failed() && job() == nullptr) std::exit(exitcode & 0xff);
  if (job() == nullptr) fatal("gasnet_exit before gasnet_init (C1-056)");
  leave_job(exitcode);
}

int gasnet_getSegmentInfo(gasnet_seginfo_t* table, int numentries) {
  if (job() == nullptr || !job()->attached) return GASNET_ERR_NOT_INIT;
  for (int i = 0; i < numentries && static_cast<Rank>(i) < engine.rank_count; ++i) {
    const Route& route = engine.routes[i];
    table[i] = {reinterpret_cast<void*>(route.segment_base), route.segment_bytes};
  }
  return GASNET_OK;
}

int gasnet_getNodeInfo(gasnet_nodeinfo_t* table, int numentries) {
  if (job() == nullptr) return GASNET_ERR_NOT_INIT;
  if (table == nullptr || numentries < 0) return GASNET_ERR_BAD_ARG;
  for (Rank rank = 0; rank < engine.rank_count && rank < static_cast<Rank>(numentries); ++rank) {
    const RankPlace& place = job()->places[rank];
    // A supernode's ranks reach each other's segments with loads and stores: none does
    // EVERYTHING's.
    const bool is_alone = job()->kind == SegmentKind::kEverything;
    table[rank] = {place.host, is_alone ? rank : place.supernode, 0};
    if (job()->attached) table[rank].offset = static_cast<intptr_t>(::pinwire_reach[rank].delta);
  }
  return GASNET_OK;
}

char* gasnet_getenv(const char* name) {
  if (job() == nullptr || name == nullptr) return nullptr;
  return const_cast<char*>(job()->bootstrap->job_environment(name));
}

const char* gasnet_ErrorName(int errval) {
  switch (errval) {
    case GASNET_OK:
      return "GASNET_OK";
    case GASNET_ERR_NOT_INIT:
      return "GASNET_ERR_NOT_INIT";
    case GASNET_ERR_RESOURCE:
      return "GASNET_ERR_RESOURCE";
    case GASNET_ERR_BAD_ARG:
      return "GASNET_ERR_BAD_ARG";
    case GASNET_ERR_NOT_READY:
      return "GASNET_ERR_NOT_READY";
    case GASNET_ERR_BARRIER_MISMATCH:
      return "GASNET_ERR_BARRIER_MISMATCH";
  }
  return "*unknown*";
}

const char* gasnet_ErrorDesc(int errval) {
  switch (errval) {
    case GASNET_OK:
      return "No error";
    case GASNET_ERR_NOT_INIT:
      return "GASNet message layer not initialized";
    case GASNET_ERR_RESOURCE:
      return "Problem with requested resource";
    case GASNET_ERR_BAD_ARG:
      return "Invalid function parameter passed";
    case GASNET_ERR_NOT_READY:
      return "Non-blocking operation not complete";
    case GASNET_ERR_BARRIER_MISMATCH:
      return "Barrier id's mismatched";
  }
  return "no such error";
}

}  // extern "C"

// gasnetex.h: the C entry points of puts and events (GX-030 to GX-040, GX-123 to GX-130), for what
// is not inlined, and not gasnet.h's.
#include "am/progress.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/objects.h"
#include "extended/sync.h"
#include "extended/transfer.h"
#include "extended/usage.h"

using namespace pinwire;

namespace {

int ready(bool done) noexcept { return done ? GASNET_OK : GASNET_ERR_NOT_READY; }

/// The local completion of a put comes with it, but where the driver takes a copy.
unsigned sets_of(gex_EC_t mask) noexcept {
  unsigned sets = 0;
  if (mask & GEX_EC_GET) sets |= kGets;
  if (mask & (GEX_EC_PUT | GEX_EC_LC)) sets |= kPuts;
  return sets;
}

void check_put(const char* call, Target target, const gex_Event_t* lc_opt,
               bool is_implicit) noexcept {
  if (rank_of(target) >= engine.target_count) {
    fatal("%s to jobrank %u of a job of %u", call, rank_of(target), engine.rank_count);
  }
  const bool is_event = lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER &&
                        lc_opt != GEX_EVENT_GROUP && lc_opt != nullptr;
  if (lc_opt == nullptr || (is_implicit ? is_event : lc_opt == GEX_EVENT_GROUP)) {
    fatal("%s takes GEX_EVENT_NOW, GEX_EVENT_DEFER or %s for its local completion (GX-125)", call,
          is_implicit ? "GEX_EVENT_GROUP" : "the address of an event");
  }
}

/// A put that the driver copies is locally complete at once.
bool copies(Target target, size_t nbytes) noexcept {
  const Route& route = engine.routes[rank_of(target)];
  return route.driver == nullptr || engine.drivers[route.driver_index].caps.copies(nbytes, true);
}

}  // namespace

extern "C" {

gex_Event_t pinwire_ex_put_nb(gasnet_node_t target, void* dest, const void* src, size_t nbytes,
                              gex_Event_t* lc_opt) {
  check_put("gex_RMA_PutNB", target, lc_opt, false);
  const bool wants_event = lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER;
  const bool at_once = lc_opt == GEX_EVENT_NOW || (wants_event && copies(target, nbytes));
  const gex_Event_t root =
      pinwire_put_nb(target, dest, const_cast<void*>(src), nbytes, at_once ? 0 : 1);
  if (wants_event) {
    *lc_opt = at_once || root == GEX_EVENT_INVALID ? GEX_EVENT_INVALID : leaf_of(root);
  }
  return root;
}

void pinwire_ex_put_nbi(gasnet_node_t target, void* dest, const void* src, size_t nbytes,
                        gex_Event_t* lc_opt) {
  check_put("gex_RMA_PutNBI", target, lc_opt, true);
  pinwire_put_nbi(target, dest, const_cast<void*>(src), nbytes, lc_opt == GEX_EVENT_NOW ? 0 : 1);
}

int pinwire_ex_test(gex_Event_t event) {
  const ClientCall inside("gex_Event_Test");
  const TimedEvent timed(Event::kSyncTry);
  return ready(test_op(event));
}
int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  const ClientCall inside("gex_Event_TestSome");
  const TimedEvent timed(Event::kSyncTry);
  return ready(test_some(pevent, numevents));
}
int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  const ClientCall inside("gex_Event_TestAll");
  const TimedEvent timed(Event::kSyncTry);
  return ready(test_all(pevent, numevents));
}
void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  gasnet_wait_syncnb_some(pevent, numevents);
}
void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  gasnet_wait_syncnb_all(pevent, numevents);
}

gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category) {
  const bool is_one = event_category != 0 && event_category < GEX_EC_ALL &&
                      (event_category & (event_category - 1)) == 0;
  check(is_one, "gex_Event_QueryLeaf wants one category (GX-038)", event_category);
  return root == GEX_EVENT_INVALID ? GEX_EVENT_INVALID : leaf_of(root);
}

int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t) {
  const ClientCall inside("gex_NBI_Test");
  const TimedEvent timed(Event::kSyncTry);
  return ready(test_implicit(sets_of(event_mask)));
}
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t) {
  const ClientCall inside("gex_NBI_Wait");
  const TimedEvent timed(Event::kSyncWait);
  wait_implicit(sets_of(event_mask));
}

}  // extern "C"

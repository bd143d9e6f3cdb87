// gasnetex.h: the C entry points of puts and events (GX-030 to GX-040, GX-123 to GX-130), for what
// is not inlined, and not gasnet.h's.
#include "am/message/patience.h"
#include "am/path/path.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/checks/usage.h"
#include "extended/rma/explicit.h"
#include "extended/rma/sync.h"
#include "extended/rma/transfer.h"
#include "extended/state/objects.h"

using namespace pinwire;

namespace {

constexpr gex_EC_t kRemotePuts = GEX_EC_PUT & ~GEX_EC_LC;
static_assert(GEX_EC_AM == GEX_EC_LC && kRemotePuts != 0);

/// The local completion of a put comes with it, but where the driver takes a copy: then at once.
unsigned sets_of(gex_EC_t mask) noexcept {
  unsigned sets = 0;
  if (mask & GEX_EC_GET) sets |= kGets;
  if (mask & kRemotePuts) sets |= kPuts;
  if (mask & GEX_EC_LC) sets |= kLocals | kAms;
  if (mask & GEX_EC_RMW) sets |= kRmws;
  return sets;
}

void check_put(const char* call, Target target, const gex_Event_t* lc_opt,
               bool is_implicit) noexcept {
  check_target(call, target);
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
  return route.driver == nullptr ||
         nbytes <= copied_max(engine.caps_of(route), SourceUntil::kReturn);
}

}  // namespace

extern "C" {

gex_Event_t pinwire_ex_put_nb(gasnet_node_t target, void* dest, const void* src, size_t nbytes,
                              gex_Event_t* lc_opt, gex_Flags_t flags) {
  check_put("gex_RMA_PutNB", target, lc_opt, false);
  const ClientCall inside("gex_RMA_PutNB");
  const bool wants_event = lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER;
  const bool at_once = lc_opt == GEX_EVENT_NOW || (wants_event && copies(target, nbytes));
  const SourceUntil until = at_once ? SourceUntil::kReturn : SourceUntil::kDone;
  const Patience patience = patience_of(flags);
  const gex_Event_t root = start_explicit(patience, [=](pinwire_op& op) {
    return start_put(target, dest, src, nbytes, until, op, patience);
  });
  if (root == GEX_EVENT_NO_OP) return root;
  note_event(Event::kPutNb, rank_of(target), nbytes, 0, src);
  const bool is_local = at_once || root == GEX_EVENT_INVALID;
  if (root != GEX_EVENT_INVALID) root->is_local = is_local;
  if (wants_event) *lc_opt = is_local ? GEX_EVENT_INVALID : leaf_of(root);
  return root;
}

gex_Event_t pinwire_ex_get_nb(void* dest, gasnet_node_t target, const void* src, size_t nbytes,
                              gex_Flags_t flags) {
  check_target("gex_RMA_GetNB", target);
  const ClientCall inside("gex_RMA_GetNB");
  const Patience patience = patience_of(flags);
  const gex_Event_t root = start_explicit(
      patience, [=](pinwire_op& op) { return start_get(target, src, dest, nbytes, op, patience); });
  if (root != GEX_EVENT_NO_OP) note_event(Event::kGetNb, rank_of(target), nbytes);
  return root;
}

int pinwire_ex_put_nbi(gasnet_node_t target, void* dest, const void* src, size_t nbytes,
                       gex_Event_t* lc_opt, gex_Flags_t flags) {
  check_put("gex_RMA_PutNBI", target, lc_opt, true);
  const ClientCall inside("gex_RMA_PutNBI");
  // If the driver copies the source, it is free at return, whatever becomes of the put.
  const bool is_local = lc_opt == GEX_EVENT_GROUP && !copies(target, nbytes);
  const bool at_once = lc_opt == GEX_EVENT_NOW || (lc_opt == GEX_EVENT_GROUP && !is_local);
  const SourceUntil until = at_once ? SourceUntil::kReturn : SourceUntil::kDone;
  pinwire_op& op = is_local ? implicit_locals() : implicit_puts();
  if (!start_put(target, dest, src, nbytes, until, op, patience_of(flags))) return 1;
  note_event(Event::kPutNbi, rank_of(target), nbytes, 0, src);
  return 0;
}

int pinwire_ex_get_nbi(void* dest, gasnet_node_t target, const void* src, size_t nbytes,
                       gex_Flags_t flags) {
  check_target("gex_RMA_GetNBI", target);
  const ClientCall inside("gex_RMA_GetNBI");
  if (!start_get(target, src, dest, nbytes, implicit_gets(), patience_of(flags))) return 1;
  note_event(Event::kGetNbi, rank_of(target), nbytes);
  return 0;
}

int pinwire_ex_test(gex_Event_t event) {
  const ClientCall inside("gex_Event_Test");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(test_op(event));
}
int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  const ClientCall inside("gex_Event_TestSome");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(test_some(pevent, numevents));
}
int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  const ClientCall inside("gex_Event_TestAll");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(test_all(pevent, numevents));
}
void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  gasnet_wait_syncnb_some(pevent, numevents);
}
void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  gasnet_wait_syncnb_all(pevent, numevents);
}

gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category) {
  const bool is_one = event_category == GEX_EC_PUT || event_category == GEX_EC_LC ||
                      event_category == GEX_EC_GET || event_category == GEX_EC_RMW;
  check(is_one, "gex_Event_QueryLeaf wants one category (GX-038)", event_category);
  return root == GEX_EVENT_INVALID || root->is_local ? GEX_EVENT_INVALID : leaf_of(root);
}

int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t) {
  const ClientCall inside("gex_NBI_Test");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(test_implicit(sets_of(event_mask)));
}
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t) {
  const ClientCall inside("gex_NBI_Wait");
  const TimedEvent timed(Event::kSyncWait);
  wait_implicit(sets_of(event_mask));
}

}  // extern "C"

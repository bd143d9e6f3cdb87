// gasnetex.h and gasnet_coll.h: the C entry points of GASNet-EX's collectives (GX-140 to GX-148).
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/trace/trace.h"
#include "extended/checks/usage.h"
#include "extended/coll/algorithms/call.h"
#include "extended/coll/algorithms/move.h"
#include "extended/coll/algorithms/reduce.h"
#include "extended/coll/member/member.h"
#include "extended/coll/operation/start.h"
#include "extended/state/objects.h"
#include "segment/kinds/device_memory.h"

using namespace pinwire;

namespace {

/// The reduction that the arguments describe; ends the job if they are invalid.
Reduction reduction_of(const char* call, gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                       gex_Coll_ReduceFn_t user_op, const void* user_cdata) noexcept {
  const bool is_user = op == GEX_OP_USER || op == GEX_OP_USER_NC;
  if (dt_sz == 0 || dt_cnt == 0 || (dt != GEX_DT_USER && dt_sz != built_in_bytes(dt))) {
    fatal(
        "%s of %zu elements of type 0x%x, of %zu bytes: both are above 0, and a built-in type has "
        "the size of its C type (GX-146)",
        call, dt_cnt, dt, dt_sz);
  }
  if (dt_cnt > ~size_t{0} / 2 / dt_sz)
    fatal("%s of %zu elements of %zu bytes", call, dt_cnt, dt_sz);
  if (is_user) {
    if (user_op == nullptr) fatal("%s with GEX_OP_USER wants a function (GX-147)", call);
    return {dt_sz, dt_cnt, nullptr, user_op, user_cdata, op == GEX_OP_USER_NC};
  }
  const BuiltInFunction function = built_in_function(dt, op);
  if (function == nullptr) {
    fatal("%s: type 0x%x has no operation 0x%x in reductions (GX-147, GX-150)", call, dt, op);
  }
  return {dt_sz, dt_cnt, function, nullptr, nullptr, false};
}

/// Ranks with no part in it may say anything.
void check_operands(const void* dst, bool is_written, const void* src, bool is_read,
                    size_t bytes) noexcept {
  if (is_written) check_is_hosts("the result of a collective", dst, bytes);
  if (is_read) check_is_hosts("the source of a collective", src, bytes);
}

}  // namespace

extern "C" {

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags) {
  const ClientCall inside("gex_Coll_BarrierNB");
  check_collective("gex_Coll_BarrierNB", tm, 0, flags);
  return tm->member->barrier.of_team.start();
}

void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags) {
  const ClientCall inside("gex_Coll_BarrierBlocking");
  check_collective("gex_Coll_BarrierBlocking", tm, 0, flags);
  tm->member->barrier.of_team.pass();
}

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src,
                                 size_t nbytes, gex_Flags_t flags) {
  const ClientCall inside("gex_Coll_BroadcastNB");
  check_collective("gex_Coll_BroadcastNB", tm, root, flags);
  check_operands(dst, true, src, tm->rank == root, nbytes);
  Collective& c = new_collective(tm, broadcast);
  c.root = root;
  c.dst = dst;
  c.src = src;
  c.bytes = nbytes;
  return start_collective(c);
}

gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void* dst, const void* src,
                                   gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                   gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                   gex_Flags_t flags) {
  const ClientCall inside("gex_Coll_ReduceToOneNB");
  check_collective("gex_Coll_ReduceToOneNB", tm, root, flags);
  Collective& c = new_collective(tm, reduce_to_one);
  c.reduction = reduction_of("gex_Coll_ReduceToOneNB", dt, dt_sz, dt_cnt, op, user_op, user_cdata);
  check_operands(dst, tm->rank == root, src, true, dt_sz * dt_cnt);
  c.root = root;
  c.dst = dst;
  c.src = src;
  return start_collective(c);
}

gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void* dst, const void* src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                   gex_Coll_ReduceFn_t user_op, void* user_cdata,
                                   gex_Flags_t flags) {
  const ClientCall inside("gex_Coll_ReduceToAllNB");
  check_collective("gex_Coll_ReduceToAllNB", tm, 0, flags);
  Collective& c = new_collective(tm, reduce_to_all);
  c.reduction = reduction_of("gex_Coll_ReduceToAllNB", dt, dt_sz, dt_cnt, op, user_op, user_cdata);
  check_operands(dst, true, src, true, dt_sz * dt_cnt);
  c.dst = dst;
  c.src = src;
  return start_collective(c);
}

}  // extern "C"

// gasnet_coll.h: the C entry points of GASNet's prototype collectives.
#include "core/base/log.h"
#include "extended/barrier/barrier.h"
#include "extended/checks/usage.h"
#include "extended/coll/algorithms/call.h"
#include "extended/coll/algorithms/gather_all.h"
#include "extended/coll/algorithms/move.h"
#include "extended/coll/member/member.h"
#include "extended/coll/operation/start.h"
#include "extended/state/objects.h"

using namespace pinwire;

namespace {

/// Exactly one of the three flags from `first` on.
bool is_one_sync(int flags, int first) noexcept {
  const int three = flags & (7 * first);
  return three == first || three == 2 * first || three == 4 * first;
}

gex_Event_t start(const char* call, gex_TM_t team, Collective::Script script, gasnet_image_t root,
                  void* dst, const void* src, size_t nbytes, int flags) noexcept {
  check_collective(call, team, root, 0);
  if (!is_one_sync(flags, GASNET_COLL_IN_NOSYNC) || !is_one_sync(flags, GASNET_COLL_OUT_NOSYNC)) {
    fatal("%s wants one of GASNET_COLL_IN_{NO,MY,ALL}SYNC and one of GASNET_COLL_OUT_...: 0x%x",
          call, static_cast<unsigned>(flags));
  }
  Collective& c = new_collective(team, script);
  c.root = root;
  c.dst = dst;
  c.src = src;
  c.bytes = nbytes;
  c.syncs_before = (flags & GASNET_COLL_IN_ALLSYNC) != 0;
  c.syncs_after = (flags & GASNET_COLL_OUT_ALLSYNC) != 0;
  return start_collective(c);
}

int code_of(BarrierResult result) noexcept {
  return result == BarrierResult::kOk         ? GASNET_OK
         : result == BarrierResult::kMismatch ? GASNET_ERR_BARRIER_MISMATCH
                                              : GASNET_ERR_NOT_READY;
}

}  // namespace

extern "C" {

gex_TM_t pinwire_team_all() { return objects.team; }

gex_Event_t gasnet_coll_broadcast_nb(gex_TM_t team, void* dst, gasnet_image_t srcimage,
                                     const void* src, size_t nbytes, int flags) {
  const ClientCall inside("gasnet_coll_broadcast");
  return start("gasnet_coll_broadcast", team, broadcast, srcimage, dst, src, nbytes, flags);
}
gex_Event_t gasnet_coll_scatter_nb(gex_TM_t team, void* dst, gasnet_image_t srcimage,
                                   const void* src, size_t nbytes, int flags) {
  const ClientCall inside("gasnet_coll_scatter");
  return start("gasnet_coll_scatter", team, scatter, srcimage, dst, src, nbytes, flags);
}
gex_Event_t gasnet_coll_gather_nb(gex_TM_t team, gasnet_image_t dstimage, void* dst,
                                  const void* src, size_t nbytes, int flags) {
  const ClientCall inside("gasnet_coll_gather");
  return start("gasnet_coll_gather", team, gather, dstimage, dst, src, nbytes, flags);
}
gex_Event_t gasnet_coll_gather_all_nb(gex_TM_t team, void* dst, const void* src, size_t nbytes,
                                      int flags) {
  const ClientCall inside("gasnet_coll_gather_all");
  return start("gasnet_coll_gather_all", team, gather_all, 0, dst, src, nbytes, flags);
}
gex_Event_t gasnet_coll_exchange_nb(gex_TM_t team, void* dst, const void* src, size_t nbytes,
                                    int flags) {
  const ClientCall inside("gasnet_coll_exchange");
  return start("gasnet_coll_exchange", team, exchange, 0, dst, src, nbytes, flags);
}

void gasnet_coll_barrier_notify(gex_TM_t team, int id, int flags) {
  if (team == objects.team) return gasnet_barrier_notify(id, flags);
  const ClientCall inside("gasnet_coll_barrier_notify");
  check_collective("gasnet_coll_barrier_notify", team, 0, 0);
  team->member->barrier.notify("gasnet_coll_barrier", id, flags);
}
int gasnet_coll_barrier_wait(gex_TM_t team, int id, int flags) {
  if (team == objects.team) return gasnet_barrier_wait(id, flags);
  const ClientCall inside("gasnet_coll_barrier_wait");
  check_collective("gasnet_coll_barrier_wait", team, 0, 0);
  return code_of(team->member->barrier.wait("gasnet_coll_barrier", id, flags));
}
int gasnet_coll_barrier_try(gex_TM_t team, int id, int flags) {
  if (team == objects.team) return gasnet_barrier_try(id, flags);
  const ClientCall inside("gasnet_coll_barrier_try");
  check_collective("gasnet_coll_barrier_try", team, 0, 0);
  return code_of(team->member->barrier.try_once("gasnet_coll_barrier", id, flags));
}

}  // extern "C"

// gasnetex.h: what the API tells of the job's ranks, hosts and threads (GX-024 to GX-028, GX-080,
// GX-164 to GX-167).
#include <algorithm>

#include "am/interrupts/interrupts.h"
#include "core/engine/engine.h"
#include "core/exact_mode.h"
#include "extended/state/failed_start.h"
#include "extended/state/objects.h"
#include "extended/state/rank_lists.h"

using namespace pinwire;

namespace {

void tell(const RankList& list, gex_RankInfo_t** info_p, gex_Rank_t* count_p, gex_Rank_t* index_p) {
  if (info_p != nullptr) *info_p = static_cast<gex_RankInfo_t*>(list.infos);
  if (count_p != nullptr) *count_p = list.count;
  if (index_p != nullptr) *index_p = list.index;
}

/// Sets count from 0, by their lowest rank.
template <uint32_t (*SetOf)(Rank)>
gex_Rank_t count_sets() noexcept {
  uint32_t highest = 0;
  for (Rank rank = 0; rank < engine.rank_count; ++rank) highest = std::max(highest, SetOf(rank));
  return highest + 1;
}

}  // namespace

extern "C" {

void gex_System_QueryNbrhdInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                               gex_Rank_t* my_info_index_p) {
  const RareCall inside;
  refuse_after_failed_start("gex_System_QueryNbrhdInfo");
  tell(neighbours(), info_p, info_count_p, my_info_index_p);
}
void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                              gex_Rank_t* my_info_index_p) {
  const RareCall inside;
  refuse_after_failed_start("gex_System_QueryHostInfo");
  tell(ranks_of_this_host(), info_p, info_count_p, my_info_index_p);
}
void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size_p, gex_Rank_t* nbrhd_set_rank_p,
                                gex_Rank_t* host_set_size_p, gex_Rank_t* host_set_rank_p) {
  const RareCall inside;
  refuse_after_failed_start("gex_System_QueryMyPosition");
  if (nbrhd_set_size_p != nullptr) *nbrhd_set_size_p = count_sets<neighbourhood_of>();
  if (nbrhd_set_rank_p != nullptr) *nbrhd_set_rank_p = neighbourhood_of(engine.rank);
  if (host_set_size_p != nullptr) *host_set_size_p = count_sets<host_of>();
  if (host_set_rank_p != nullptr) *host_set_rank_p = host_of(engine.rank);
}

int gex_System_GetVerboseErrors() { return tells_errors.load(std::memory_order_relaxed) ? 1 : 0; }
void gex_System_SetVerboseErrors(int enable) {
  tells_errors.store(enable != 0, std::memory_order_relaxed);
}

uint64_t gex_System_QueryMaxThreads() {
  if constexpr (kThreadMode == ThreadMode::kSeq) return 1;
  return engine.threads_max != 0 ? engine.threads_max
                                 : UINT64_MAX;  // as many as there is memory for
}

int gex_System_QueryHiddenAMConcurrencyLevel() { return has_dispatcher ? 1 : 0; }

int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int* count_p,
                                    const gex_ProgressThreadInfo_t** info_p, gex_Flags_t flags) {
  if (client == GEX_CLIENT_INVALID || count_p == nullptr || info_p == nullptr || flags != 0) {
    return api_error(GASNET_ERR_BAD_ARG,
                     "gex_System_QueryProgressThreads wants a client, two pointers to write to and "
                     "no flags (GX-083)");
  }
  if ((client->flags & GEX_FLAG_DEFER_THREADS) == 0) {
    return api_error(GASNET_ERR_RESOURCE,
                     "gex_System_QueryProgressThreads: only gex_Client_Init with "
                     "GEX_FLAG_DEFER_THREADS leaves threads to the client (GX-083)");
  }
  *count_p = 0;
  *info_p = nullptr;
  return GASNET_OK;
}

}  // extern "C"

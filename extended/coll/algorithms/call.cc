#include "extended/coll/algorithms/call.h"

#include "core/base/check.h"
#include "core/base/log.h"
#include "extended/coll/member/member.h"
#include "extended/state/objects.h"

namespace pinwire {

void check_collective(const char* call, gex_TM_t tm, gex_Rank_t root, gex_Flags_t flags) noexcept {
  if (tm == GEX_TM_INVALID || is_pair(tm)) {
    fatal("%s over %s (EX-129)", call, tm == GEX_TM_INVALID ? "GEX_TM_INVALID" : "a TM-pair");
  }
  const Member* member = tm->member;
  if (member == nullptr || member->tm != tm) {
    fatal("%s over a team that was destroyed (EX-089)", call);
  }
  if (root >= tm->size) fatal("%s names rank %u as the root of a team of %u", call, root, tm->size);
  if (flags != 0) fatal("%s takes no flags, and was given 0x%x (GX-148)", call, flags);
}

}  // namespace pinwire

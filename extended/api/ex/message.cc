#include "extended/api/ex/message.h"

#include "core/base/log.h"
#include "extended/checks/usage.h"
#include "extended/state/objects.h"

namespace pinwire {

void check_size(const char* call, size_t nbytes, size_t bytes_max) noexcept {
  if (nbytes > bytes_max) {
    fatal("%s of %zu bytes; gex_AM_Max... allows %zu (GX-092)", call, nbytes, bytes_max);
  }
}

Target target_in(const char* call, gex_TM_t tm, gex_Rank_t rank) noexcept {
  if (rank >= ranks_in(tm)) fatal("%s to rank %u of %u (GX-108)", call, rank, ranks_in(tm));
  if constexpr (kUsageChecks) {
    if ((endpoint_in(tm).capabilities & GEX_EP_CAPABILITY_AM) == 0) {
      breach("EX-022", "%s by endpoint %u, which was created without GEX_EP_CAPABILITY_AM", call,
             endpoint_in(tm).index);
    }
  }
  return pinwire_target(tm, rank);
}

AmCall call_by(gex_TM_t tm, gex_Flags_t flags, gex_AM_Index_t handler, int argc,
               const gex_AM_Arg_t* args) noexcept {
  return with(flags, call_of(handler, argc, args, endpoint_in(tm).index));
}

}  // namespace pinwire

/* Public headers in an order of their own: what includes the others first. headers_forward.c has
 * them the other way round, so that each of two headers comes first once. */
/* clang-format off */
#include "gasnet_tools.h"
#include "gasnet_vis.h"
#include "gasnet_ratomic.h"
#include "gasnet_mk.h"
#include "gasnet_coll.h"
#include "gasnet.h"
#include "gasnetex.h"
#include "gasnet_fwd.h"
/* And again. */
#include "gasnet.h"
#include "gasnet_tools.h"
#include "gasnet_vis.h"
/* clang-format on */

#include "../ex.h"

/* Something of each header. */
CASE(each_header_is_whole, "GX-001") {
  gex_AD_t domain = GEX_AD_INVALID;
  gex_MK_t kind = GEX_MK_HOST;
  gex_Memvec_t nothing = {NULL, 0};
  gasnet_handle_t handle = GASNET_INVALID_HANDLE;
  const gasnett_tick_t now = gasnett_ticks_now();
  EXPECT(GEX_VIS_MAX_PEERCOMPLETION >= 127);
  EXPECT(domain == GEX_AD_INVALID && kind != GEX_MK_INVALID && GEX_FLAG_IMMEDIATE != 0);
  gex_Event_Wait(gex_VIS_VectorPutNB(team, me, 0, &nothing, 0, &nothing, 0));
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &nothing, &nothing, sizeof nothing, 0));
  gasnet_wait_syncnb(handle);
  EXPECT(gasnett_ticks_to_ns(gasnett_ticks_now() - now) < (uint64_t)1 << 60);
}

/* Constants for the preprocessor (GX-003). */
#if GEX_SPEC_VERSION_MAJOR == 0 && GEX_SPEC_VERSION_MINOR == 19
enum { kExVersion = 1 };
#else
enum { kExVersion = 0 };
#endif
#if GASNET_SPEC_VERSION_MAJOR == 1 && GASNET_SPEC_VERSION_MINOR == 8
enum { kGasnet1Version = 1 };
#else
enum { kGasnet1Version = 0 };
#endif
#if GASNETT_SPEC_VERSION_MAJOR == 1 && GASNETT_SPEC_VERSION_MINOR == 20
enum { kToolsVersion = 1 };
#else
enum { kToolsVersion = 0 };
#endif
/* The version of GASNet-EX: a year, a month, a patch. */
#if GASNET_RELEASE_VERSION_MAJOR >= 2000 && GASNET_RELEASE_VERSION_MAJOR < 3000 && \
    GASNET_RELEASE_VERSION_MINOR >= 1 && GASNET_RELEASE_VERSION_MINOR <= 12 &&     \
    GASNET_RELEASE_VERSION_PATCH >= 0
enum { kRelease = 1 };
#else
enum { kRelease = 0 };
#endif
CASE(versions, "GX-003") {
  EXPECT(kExVersion);
  EXPECT(kGasnet1Version);
  EXPECT(kToolsVersion);
  EXPECT(kRelease);
}

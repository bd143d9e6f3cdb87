/* Public headers, the least first: gasnet_fwd.h alone gives a client what its own headers may show.
 */
#include "gasnet_fwd.h"

/* All of it, before any other header is there. */
typedef struct {
  gex_Rank_t rank;
  gex_EP_Index_t index;
  gex_Addr_t address;
  gex_Event_t event;
  gex_Flags_t flags;
  gex_DT_t type;
  gex_OP_t operation;
  gex_EP_Capabilities_t capabilities;
} of_a_client;
static of_a_client made(void) {
  const of_a_client it = {GEX_RANK_INVALID,
                          0,
                          0,
                          GEX_EVENT_NO_OP,
                          GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_AD_ACQ,
                          GEX_DT_I64 | GEX_DT_FLT,
                          GEX_OP_ADD | GEX_OP_FCAS,
                          GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_AM | GEX_EP_CAPABILITY_VIS |
                              GEX_EP_CAPABILITY_COLL | GEX_EP_CAPABILITY_AD};
  return it;
}
static gex_Event_t *const now = GEX_EVENT_NOW;
static const gex_Flags_t of_messages = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
static const gex_Flags_t of_atomics =
    GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_REL | GEX_FLAG_RANK_IS_JOBRANK;
static const gex_Flags_t of_teams = GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET;
#if GEX_DT_USER && GEX_OP_USER /* numbers in #if, too (GX-149, GX-150) */
enum { kNumbers = 1 };
#else
enum { kNumbers = 0 };
#endif
#if defined(_INCLUDED_GASNETEX_H) || defined(GASNET_OK) || defined(GEX_HSL_INITIALIZER) || \
    defined(GASNET_MAXNODES)
enum { kForwardIsAlone = 0 };
#else
enum { kForwardIsAlone = 1 };
#endif

/* clang-format off */
#include "gasnetex.h"
#include "gasnet.h"
#include "gasnet_coll.h"
#include "gasnet_mk.h"
#include "gasnet_ratomic.h"
#include "gasnet_vis.h"
#include "gasnet_tools.h"
/* clang-format on */

#include "../ex.h"

CASE(what_gasnet_fwd_gives_is_the_same, "GX-001 GX-002") {
  const of_a_client it = made();
  EXPECT(kForwardIsAlone);
  EXPECT(kNumbers);
  EXPECT(it.rank == GEX_RANK_INVALID && it.event == GEX_EVENT_NO_OP && it.address == NULL &&
         now == GEX_EVENT_NOW);
  EXPECT_EQ(it.capabilities, GEX_EP_CAPABILITY_ALL);
  EXPECT(it.type != 0 && it.operation != 0 && it.flags != 0 &&
         it.index == gex_EP_QueryIndex(endpoint));
  EXPECT(of_messages != 0 && of_atomics != 0 && of_teams != 0);
}

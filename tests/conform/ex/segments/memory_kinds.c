/* Memory kinds as far as they need no device (the additions, 4.1; "Memory Kinds", 6). */
#include <limits.h>

#include "../ex.h"

/* ---- feature macros: 1, or not there (EX-048) ------------------------------------------------ */

#if defined GASNET_HAVE_MK_CLASS_CUDA_UVA && GASNET_HAVE_MK_CLASS_CUDA_UVA != 1
#error "GASNET_HAVE_MK_CLASS_CUDA_UVA is 1 or undefined"
#endif
#if defined GASNET_HAVE_MK_CLASS_HIP && GASNET_HAVE_MK_CLASS_HIP != 1
#error "GASNET_HAVE_MK_CLASS_HIP is 1 or undefined"
#endif
#if defined GASNET_HAVE_MK_CLASS_ZE && GASNET_HAVE_MK_CLASS_ZE != 1
#error "GASNET_HAVE_MK_CLASS_ZE is 1 or undefined"
#endif
#if defined GASNET_HAVE_MK_CLASS_CUDA_UVA || defined GASNET_HAVE_MK_CLASS_HIP || \
    defined GASNET_HAVE_MK_CLASS_ZE
enum { kHasDeviceKind = 1 };
#else
enum { kHasDeviceKind = 0 };
#endif
#ifndef GASNET_HAVE_MK_CLASS_MULTIPLE
#define GASNET_HAVE_MK_CLASS_MULTIPLE 0
#endif

CASE(feature_macros_agree, "EX-048") { EXPECT_EQ(GASNET_HAVE_MK_CLASS_MULTIPLE, kHasDeviceKind); }

/* ---- handles --------------------------------------------------------------------------------- */

static const gex_MK_t kKinds[] = {GEX_MK_INVALID, GEX_MK_HOST, GEX_MEMKIND_HOST};

CASE(a_kind_is_a_scalar, "EX-043 EX-045") {
  gex_MemKind_t kind = GEX_MEMKIND_HOST;
  EXPECT(kind != GEX_MK_INVALID && kind == GEX_MK_HOST);
  EXPECT(!kKinds[0] && kKinds[1] &&
         kKinds[1] == kKinds[2]); /* the conditions that scalars may be */
  EXPECT(GEX_MK_INVALID == (gex_MK_t)0);
  IS(GEX_MEMKIND_HOST, gex_MemKind_t);
}

CASE(arguments_of_a_kind_are_laid_out_as_said, "EX-046") {
  gex_MK_Create_args_t args;
  memset(&args, 0, sizeof args);
  EXPECT_EQ(offsetof(gex_MK_Create_args_t, gex_flags), 0);
  IS(args.gex_flags, uint64_t);
  IS(args.gex_class, gex_MK_Class_t);
  IS(args.gex_args.gex_class_cuda_uva.gex_CUdevice, int);
  IS(args.gex_args.gex_class_hip.gex_hipDevice, int);
  IS(args.gex_args.gex_class_ze.gex_zeDevice, void *);
  IS(args.gex_args.gex_class_ze.gex_zeContext, void *);
  IS(args.gex_args.gex_class_ze.gex_zeMemoryOrdinal, uint32_t);
}

/* ---- gex_MK_Create --------------------------------------------------------------------------- */

/* A kind that cannot be had: the code says so, and nothing is written. */
static void expect_no_kind(const gex_MK_Create_args_t *args) {
  static char word;
  const gex_MK_t before = (gex_MK_t)(void *)&word;
  gex_MK_t kind = before;
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_MK_Create(&kind, client, args, 0), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  EXPECT(kind == before);
}

/* No machine has so many devices; and one without the vendor's library supports none of the class.
 */
CASE(classes_that_cannot_be_had, "EX-047") {
  gex_MK_Create_args_t args;
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_CUDA_UVA;
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = INT_MAX;
  expect_no_kind(&args);
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = -1;
  expect_no_kind(&args);
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_HIP;
  args.gex_args.gex_class_hip.gex_hipDevice = INT_MAX;
  expect_no_kind(&args);
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_ZE; /* without its handles */
  expect_no_kind(&args);
  args.gex_class = (gex_MK_Class_t)(GEX_MK_CLASS_ZE + 1);
  expect_no_kind(&args);
}

/* It is local: rank 1 makes no call. The instance does what GEX_MK_HOST does. */
CASE(a_host_kind_is_made_locally, "EX-047 EX-052") {
  gex_MK_Create_args_t args;
  gex_MK_t kind = GEX_MK_INVALID;
  gex_Segment_t made = GEX_SEGMENT_INVALID;
  if (nodes < 2) NOT_HERE("one rank is alone anyhow");
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_HOST;
  if (!freeze_rank_1()) return;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_OK);
  EXPECT(kind != GEX_MK_INVALID);
  EXPECT_EQ(gex_Segment_Create(&made, client, NULL, GASNET_PAGESIZE, kind, 0), GASNET_OK);
  memset(gex_Segment_QueryAddr(made), 1, GASNET_PAGESIZE);
  gex_Segment_Destroy(made, 0);
  thaw_rank_1();
}

/* EX-051 forbids it only for kinds that segments were made of. */
CASE(an_unused_kind_is_destroyed, "EX-046 EX-051") {
  gex_MK_Create_args_t args;
  gex_MK_t kind = GEX_MK_INVALID;
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_HOST;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_OK);
  gex_MK_Destroy(kind, 0);
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_OK); /* and can be had again */
  gex_MK_Destroy(kind, 0);
}

/* Peers get the values that the CPU of its process stores in it, and the CPU loads what they put:
 * the host's memory. */
CASE(the_attached_segment_is_the_hosts, "EX-044") {
  const gex_Rank_t peer = (me + 1) % nodes;
  unsigned char *own = gex_Segment_QueryAddr(segment), back[1000];
  void *here = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, me, NULL, &here, NULL, 0));
  EXPECT(here == own);
  fill(part(me), sizeof back, 60 + me);
  barrier();
  gex_RMA_GetBlocking(team, back, peer, (unsigned char *)segments[peer].addr + peer * part_bytes(),
                      sizeof back, 0);
  EXPECT(holds(back, sizeof back, 60 + peer));
  barrier();
  fill(back, sizeof back, 90 + me);
  gex_RMA_PutBlocking(team, peer, part(peer), back, sizeof back, 0);
  barrier();
  EXPECT(holds(own + (me + nodes - 1) % nodes * part_bytes(), sizeof back,
               90 + (me + nodes - 1) % nodes));
  barrier();
}

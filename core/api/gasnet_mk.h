/* gasnet_mk.h: kinds of memory other than the host's, of the GASNet-EX API (EX-043 to EX-052). */
#ifndef _INCLUDED_GASNET_MK_H
#define _INCLUDED_GASNET_MK_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All are defined, and every build has all of them: it needs no toolkit, and gex_MK_Create loads the vendor's library,
 * libcuda.so.1, libamdhip64.so or libze_loader.so.1, as the dynamic linker finds it. GASNET_HAVE_MK_CLASS_... tells
 * whether a client can be compiled for one (EX-048). */
typedef enum {
  GEX_MK_CLASS_HOST,
  GEX_MK_CLASS_CUDA_UVA,
  GEX_MK_CLASS_HIP,
  GEX_MK_CLASS_ZE
} gex_MK_Class_t;

/* Unused fields are zero. */
typedef struct {
  uint64_t gex_flags; /* 0 */
  gex_MK_Class_t gex_class;
  union {
    struct {
      int gex_CUdevice;
    } gex_class_cuda_uva;
    struct {
      int gex_hipDevice;
    } gex_class_hip;
    struct {
      void *gex_zeDevice;
      void *gex_zeContext;
      uint32_t gex_zeMemoryOrdinal;
    } gex_class_ze;
  } gex_args;
} gex_MK_Create_args_t;

/* Local. *kind_p is written on success: of GEX_MK_CLASS_HOST, GEX_MK_HOST. flags: 0. GASNET_ERR_BAD_ARG, after a
 * sentence, for flags, and where the library, the device or unified addressing is missing, or handlers run in signals
 * (GASNET_DISPATCH=interrupt and watchdog).
 *
 * CUDA_UVA uses the device's primary context, ZE the handles given, which stay the client's. The current context of a
 * thread stays so. Segments of such a kind (gex_Segment_Create): memory that the library allocates, or the client's,
 * which must be the device's (CUDA_UVA: of the primary context). They are bound to any endpoint but the first. Then
 * puts, gets, values and transfers of many pieces, and the destination of Longs, may lie in them: at the peer, and, of
 * puts and gets, here, whatever the local endpoint is bound to. No CPU touches such memory: bytes are staged through
 * the host's, and the peer's CPU takes part, so it must poll, or have GASNET_DISPATCH=thread or nicproc; what has
 * device memory here is complete at return. Not for it: remote atomics, memsets, payloads that messages carry away,
 * scratch and data of collectives. Teams of their endpoints want GEX_FLAG_TM_NO_SCRATCH. */
int gex_MK_Create(gex_MK_t *kind_p, gex_Client_t client, const gex_MK_Create_args_t *args, gex_Flags_t flags);
/* Destroys a kind that gex_MK_Create made, all of whose segments are destroyed; flags: 0. */
void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags);

/* These take a kind that gex_MK_Create has made, not GEX_MK_HOST. Its client data is one pointer, NULL at first. */
void gex_MK_SetCData(gex_MK_t kind, const void *val);
void *gex_MK_QueryCData(gex_MK_t kind);
gex_Flags_t gex_MK_QueryFlags(gex_MK_t kind);
gex_Client_t gex_MK_QueryClient(gex_MK_t kind);
gex_MK_Class_t gex_MK_QueryClass(gex_MK_t kind);

#ifdef __cplusplus
}
#endif

#endif

/* gasnet_mk.h: kinds of memory other than the host's, of the GASNet-EX API (EX-043 to EX-052). */
#ifndef _INCLUDED_GASNET_MK_H
#define _INCLUDED_GASNET_MK_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All are defined, whatever this build supports: that is HOST. GASNET_HAVE_MK_CLASS_... tells the others (EX-048). */
typedef enum {
  GEX_MK_CLASS_HOST,
  GEX_MK_CLASS_CUDA_UVA,
  GEX_MK_CLASS_HIP,
  GEX_MK_CLASS_ZE
} gex_MK_Class_t;

/* What is not used is zero. */
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

/* Local. *kind_p is written on success: of GEX_MK_CLASS_HOST, GEX_MK_HOST. flags: 0. GASNET_ERR_BAD_ARG for a class
 * that this build has not, and for flags. */
int gex_MK_Create(gex_MK_t *kind_p, gex_Client_t client, const gex_MK_Create_args_t *args, gex_Flags_t flags);
/* Of a kind that gex_MK_Create made; flags: 0. */
void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif

#endif

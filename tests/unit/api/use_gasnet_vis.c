/* gasnet_vis.h and gasnet_mk.h, as clients include and call them. */
#include <gasnet_vis.h>
#include <gasnet_mk.h>

gasnet_handle_t use_gasnet_vis(gex_TM_t tm, void *there, void *here);
gasnet_handle_t use_gasnet_vis(gex_TM_t tm, void *there, void *here) {
  const gex_Memvec_t far[] = {{there, 8}}, near[] = {{here, 8}};
  const gasnet_memvec_t old_far[] = {{there, 8}}, old_near[] = {{here, 8}};
  void *const far_list[] = {there}, *const near_list[] = {here};
  const ptrdiff_t strides[] = {-16};
  const size_t count[] = {8, 2}, old_strides[] = {16};
  gex_MK_Create_args_t args = {0, GEX_MK_CLASS_HOST, {{0}}};
  gex_MK_t kind = GEX_MK_INVALID;
  gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0);
  gex_Event_Wait(gex_VIS_VectorPutNB(tm, 0, 1, far, 1, near, GEX_FLAG_ENABLE_LEAF_LC));
  if (gex_VIS_VectorGetBlocking(tm, 1, near, 0, 1, far, 0) || gex_VIS_IndexedPutNBI(tm, 0, 1, far_list, 8, 1, near_list, 8, 0) ||
      gex_VIS_StridedGetNBI(tm, here, strides, 0, there, strides, count[0], count + 1, 1, 0) ||
      gex_MK_Create(&kind, gex_TM_QueryClient(tm), &args, 0) || GEX_VIS_MAX_PEERCOMPLETION < 127)
    return GASNET_INVALID_HANDLE;
  gex_MK_SetCData(kind, gex_MK_QueryCData(kind));
  if (gex_MK_QueryFlags(kind) || gex_MK_QueryClient(kind) == GEX_CLIENT_INVALID || gex_MK_QueryClass(kind) != GEX_MK_CLASS_ZE)
    gex_MK_Destroy(kind, 0);
  gasnet_putv_bulk(0, 1, old_far, 1, old_near);
  gasnet_geti_nbi_bulk(1, near_list, 8, 0, 1, far_list, 8);
  return gasnet_puts_nb_bulk(0, there, old_strides, here, old_strides, count, 1);
}

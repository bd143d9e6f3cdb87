// Synchronisation, and access regions (UPC-011 to UPC-019).
#include "extended/upc/handle.h"

using namespace pinwire::upc;

extern "C" {

void bupc_waitsync(bupc_handle_t handle) { gasnet_wait_syncnb(gasnet_of(handle)); }
int bupc_trysync(bupc_handle_t handle) { return gasnet_try_syncnb(gasnet_of(handle)) == GASNET_OK; }
void bupc_waitsync_all(bupc_handle_t* ph, size_t numhandles) {
  gasnet_wait_syncnb_all(gasnet_of(ph), numhandles);
}
int bupc_trysync_all(bupc_handle_t* ph, size_t numhandles) {
  return gasnet_try_syncnb_all(gasnet_of(ph), numhandles) == GASNET_OK;
}
void bupc_waitsync_some(bupc_handle_t* ph, size_t numhandles) {
  gasnet_wait_syncnb_some(gasnet_of(ph), numhandles);
}
int bupc_trysync_some(bupc_handle_t* ph, size_t numhandles) {
  return gasnet_try_syncnb_some(gasnet_of(ph), numhandles) == GASNET_OK;
}

void bupc_waitsynci() { gasnet_wait_syncnbi_all(); }
int bupc_trysynci() { return gasnet_try_syncnbi_all() == GASNET_OK; }

void bupc_begin_accessregion() { gasnet_begin_nbi_accessregion(); }
bupc_handle_t bupc_end_accessregion() { return bupc_of(gasnet_end_nbi_accessregion()); }

}  // extern "C"

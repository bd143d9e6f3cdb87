// Contiguous copies (UPC-007 to UPC-017). One thread's memory is copied by a put or a get if the
// caller is one end, otherwise from the source's process to the destination's (UPC-044).
#include "extended/upc/handle.h"

using namespace pinwire::upc;

namespace {

pinwire_copy_t copy_of(bupc_gptr_t dst, bupc_gptr_t src, size_t n) noexcept {
  return {src.addr, dst.addr, n};
}

}  // namespace

extern "C" {

bupc_handle_t bupc_memput_async(bupc_gptr_t dst, const void* src, size_t n) {
  if (n == 0) return BUPC_COMPLETE_HANDLE;
  return bupc_of(gasnet_put_nb_bulk(dst.thread, dst.addr, readable(src), n));
}
bupc_handle_t bupc_memget_async(void* dst, bupc_gptr_t src, size_t n) {
  if (n == 0) return BUPC_COMPLETE_HANDLE;
  return bupc_of(gasnet_get_nb_bulk(dst, src.thread, src.addr, n));
}
bupc_handle_t bupc_memcpy_async(bupc_gptr_t dst, bupc_gptr_t src, size_t n) {
  if (src.thread == bupc_mythread()) return bupc_memput_async(dst, src.addr, n);
  if (dst.thread == bupc_mythread()) return bupc_memget_async(dst.addr, src, n);
  const pinwire_copy_t copy = copy_of(dst, src, n);
  return bupc_of(pinwire_copy_nb(dst.thread, src.thread, 1, &copy));
}
bupc_handle_t bupc_memset_async(bupc_gptr_t dst, int c, size_t n) {
  if (n == 0) return BUPC_COMPLETE_HANDLE;
  return bupc_of(gasnet_memset_nb(dst.thread, dst.addr, c, n));
}

void bupc_memput_asynci(bupc_gptr_t dst, const void* src, size_t n) {
  if (n != 0) gasnet_put_nbi_bulk(dst.thread, dst.addr, readable(src), n);
}
void bupc_memget_asynci(void* dst, bupc_gptr_t src, size_t n) {
  if (n != 0) gasnet_get_nbi_bulk(dst, src.thread, src.addr, n);
}
void bupc_memcpy_asynci(bupc_gptr_t dst, bupc_gptr_t src, size_t n) {
  if (src.thread == bupc_mythread()) return bupc_memput_asynci(dst, src.addr, n);
  if (dst.thread == bupc_mythread()) return bupc_memget_asynci(dst.addr, src, n);
  const pinwire_copy_t copy = copy_of(dst, src, n);
  pinwire_copy_nbi(dst.thread, src.thread, 1, &copy);
}
void bupc_memset_asynci(bupc_gptr_t dst, int c, size_t n) {
  if (n != 0) gasnet_memset_nbi(dst.thread, dst.addr, c, n);
}

void bupc_memput(bupc_gptr_t dst, const void* src, size_t n) {
  if (n != 0) gasnet_put_bulk(dst.thread, dst.addr, readable(src), n);
}
void bupc_memget(void* dst, bupc_gptr_t src, size_t n) {
  if (n != 0) gasnet_get_bulk(dst, src.thread, src.addr, n);
}
void bupc_memcpy(bupc_gptr_t dst, bupc_gptr_t src, size_t n) {
  bupc_waitsync(bupc_memcpy_async(dst, src, n));
}
void bupc_memset(bupc_gptr_t dst, int c, size_t n) {
  if (n != 0) gasnet_memset(dst.thread, dst.addr, c, n);
}

}  // extern "C"

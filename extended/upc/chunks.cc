// Chunks at one distance, with another shape at either end (UPC-029 to UPC-032).
#include "core/api/gasnet_tools.h"
#include "core/base/check.h"
#include "extended/upc/window.h"

using namespace pinwire;
using namespace pinwire::upc;

namespace {

/// One end of a call, as its arguments say it.
struct Chunks {
  Region first;
  size_t stride;
  size_t count;

  bool is_nothing() const noexcept { return first.bytes == 0 || count == 0; }
  ChunkStream stream() const noexcept { return {first, stride, count}; }
};

/// In libraries that check their clients: chunks that overlap (UPC-030).
void check_stride(const char* call, const Chunks& chunks) noexcept {
  if constexpr (kUsageChecks) {
    if (chunks.count > 1 && chunks.stride < chunks.first.bytes) {
      gasnett_fatalerror_nopos("%s: chunks of %zu bytes, %zu bytes apart, overlap (UPC-030)", call,
                               chunks.first.bytes, chunks.stride);
    }
  }
}

bupc_handle_t start_chunks(const char* call, Way way, const Chunks& dst,
                           const Chunks& src) noexcept {
  if (dst.is_nothing() && src.is_nothing()) return BUPC_COMPLETE_HANDLE;
  check_stride(call, dst);
  check_stride(call, src);
  return start_streams(call, way, dst.stream(), src.stream());
}

}  // namespace

extern "C" {

bupc_handle_t bupc_memcpy_fstrided_async(bupc_gptr_t dstaddr, size_t dstchunklen,
                                         size_t dstchunkstride, size_t dstchunkcount,
                                         bupc_gptr_t srcaddr, size_t srcchunklen,
                                         size_t srcchunkstride, size_t srcchunkcount) {
  return start_chunks("bupc_memcpy_fstrided", Way::kCopy,
                      {region_of(dstaddr, dstchunklen), dstchunkstride, dstchunkcount},
                      {region_of(srcaddr, srcchunklen), srcchunkstride, srcchunkcount});
}
bupc_handle_t bupc_memput_fstrided_async(bupc_gptr_t dstaddr, size_t dstchunklen,
                                         size_t dstchunkstride, size_t dstchunkcount, void* srcaddr,
                                         size_t srcchunklen, size_t srcchunkstride,
                                         size_t srcchunkcount) {
  return start_chunks("bupc_memput_fstrided", Way::kPut,
                      {region_of(dstaddr, dstchunklen), dstchunkstride, dstchunkcount},
                      {region_of(srcaddr, srcchunklen), srcchunkstride, srcchunkcount});
}
bupc_handle_t bupc_memget_fstrided_async(void* dstaddr, size_t dstchunklen, size_t dstchunkstride,
                                         size_t dstchunkcount, bupc_gptr_t srcaddr,
                                         size_t srcchunklen, size_t srcchunkstride,
                                         size_t srcchunkcount) {
  return start_chunks("bupc_memget_fstrided", Way::kGet,
                      {region_of(dstaddr, dstchunklen), dstchunkstride, dstchunkcount},
                      {region_of(srcaddr, srcchunklen), srcchunkstride, srcchunkcount});
}
void bupc_memcpy_fstrided(bupc_gptr_t dstaddr, size_t dstchunklen, size_t dstchunkstride,
                          size_t dstchunkcount, bupc_gptr_t srcaddr, size_t srcchunklen,
                          size_t srcchunkstride, size_t srcchunkcount) {
  bupc_waitsync(bupc_memcpy_fstrided_async(dstaddr, dstchunklen, dstchunkstride, dstchunkcount,
                                           srcaddr, srcchunklen, srcchunkstride, srcchunkcount));
}
void bupc_memput_fstrided(bupc_gptr_t dstaddr, size_t dstchunklen, size_t dstchunkstride,
                          size_t dstchunkcount, void* srcaddr, size_t srcchunklen,
                          size_t srcchunkstride, size_t srcchunkcount) {
  bupc_waitsync(bupc_memput_fstrided_async(dstaddr, dstchunklen, dstchunkstride, dstchunkcount,
                                           srcaddr, srcchunklen, srcchunkstride, srcchunkcount));
}
void bupc_memget_fstrided(void* dstaddr, size_t dstchunklen, size_t dstchunkstride,
                          size_t dstchunkcount, bupc_gptr_t srcaddr, size_t srcchunklen,
                          size_t srcchunkstride, size_t srcchunkcount) {
  bupc_waitsync(bupc_memget_fstrided_async(dstaddr, dstchunklen, dstchunkstride, dstchunkcount,
                                           srcaddr, srcchunklen, srcchunkstride, srcchunkcount));
}

}  // extern "C"

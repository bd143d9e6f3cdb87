// Boxes of any number of dimensions (UPC-033 to UPC-035). They are GASNet's strided transfers where
// the caller is one end; between two other threads, lists of their elements.
#include "core/api/gasnet_tools.h"
#include "core/base/check.h"
#include "extended/upc/window.h"

using namespace pinwire;
using namespace pinwire::upc;

namespace {

/// In libraries that check their clients: strides that do not grow, or parts that overlap
/// (UPC-034).
void check_strides(const char* call, const char* end, const size_t strides[], const size_t count[],
                   size_t levels) noexcept {
  if constexpr (kUsageChecks) {
    for (size_t level = 0; level < levels; ++level) {
      const size_t least = level == 0 ? count[0] : count[level] * strides[level - 1];
      if (strides[level] >= least) continue;
      gasnett_fatalerror_nopos(
          "%s: stride %zu of the %s is %zu bytes, fewer than the %zu of what it steps over "
          "(UPC-034)",
          call, level, end, strides[level], least);
    }
  }
}

/// A box is nothing if a count is 0, whatever the other arguments are.
bool is_nothing(const char* call, const size_t dststrides[], const size_t srcstrides[],
                const size_t count[], size_t levels) noexcept {
  if (pinwire_vis_is_nothing(count[0], count + 1, levels)) return true;
  check_strides(call, "destination", dststrides, count, levels);
  check_strides(call, "source", srcstrides, count, levels);
  return false;
}

}  // namespace

extern "C" {

bupc_handle_t bupc_memput_strided_async(bupc_gptr_t dstaddr, const size_t dststrides[],
                                        const void* srcaddr, const size_t srcstrides[],
                                        const size_t count[], size_t stridelevels) {
  if (is_nothing("bupc_memput_strided", dststrides, srcstrides, count, stridelevels))
    return BUPC_COMPLETE_HANDLE;
  return bupc_of(gasnet_puts_nb_bulk(dstaddr.thread, dstaddr.addr, dststrides, readable(srcaddr),
                                     srcstrides, count, stridelevels));
}
bupc_handle_t bupc_memget_strided_async(void* dstaddr, const size_t dststrides[],
                                        bupc_gptr_t srcaddr, const size_t srcstrides[],
                                        const size_t count[], size_t stridelevels) {
  if (is_nothing("bupc_memget_strided", dststrides, srcstrides, count, stridelevels))
    return BUPC_COMPLETE_HANDLE;
  return bupc_of(gasnet_gets_nb_bulk(dstaddr, dststrides, srcaddr.thread, srcaddr.addr, srcstrides,
                                     count, stridelevels));
}
bupc_handle_t bupc_memcpy_strided_async(bupc_gptr_t dstaddr, const size_t dststrides[],
                                        bupc_gptr_t srcaddr, const size_t srcstrides[],
                                        const size_t count[], size_t stridelevels) {
  constexpr const char* kCall = "bupc_memcpy_strided";
  if (is_nothing(kCall, dststrides, srcstrides, count, stridelevels)) return BUPC_COMPLETE_HANDLE;
  if (srcaddr.thread == bupc_mythread())
    return bupc_memput_strided_async(dstaddr, dststrides, srcaddr.addr, srcstrides, count,
                                     stridelevels);
  if (dstaddr.thread == bupc_mythread())
    return bupc_memget_strided_async(dstaddr.addr, dststrides, srcaddr, srcstrides, count,
                                     stridelevels);
  return start_streams(
      kCall, Way::kCopy,
      BoxStream(region_of(dstaddr, count[0]), dststrides, count + 1, stridelevels),
      BoxStream(region_of(srcaddr, count[0]), srcstrides, count + 1, stridelevels));
}
void bupc_memput_strided(bupc_gptr_t dstaddr, const size_t dststrides[], const void* srcaddr,
                         const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  bupc_waitsync(
      bupc_memput_strided_async(dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels));
}
void bupc_memget_strided(void* dstaddr, const size_t dststrides[], bupc_gptr_t srcaddr,
                         const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  bupc_waitsync(
      bupc_memget_strided_async(dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels));
}
void bupc_memcpy_strided(bupc_gptr_t dstaddr, const size_t dststrides[], bupc_gptr_t srcaddr,
                         const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  bupc_waitsync(
      bupc_memcpy_strided_async(dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels));
}

}  // extern "C"

// Lists of regions (UPC-020 to UPC-028).
#include "core/api/gasnet_tools.h"
#include "core/base/check.h"
#include "extended/upc/window.h"

using namespace pinwire;
using namespace pinwire::upc;

namespace {

using SharedVector = VectorStream<bupc_smemvec_t>;
using PrivateVector = VectorStream<bupc_pmemvec_t>;
using SharedIndexed = IndexedStream<bupc_gptr_t>;
using PrivateSources = IndexedStream<const void*>;
using PrivateDests = IndexedStream<void*>;

/// In libraries that check their clients: a length of 0 with entries (UPC-027).
void check_length(const char* call, size_t count, size_t length) noexcept {
  if constexpr (kUsageChecks) {
    if (count != 0 && length == 0)
      gasnett_fatalerror_nopos("%s: a list of %zu regions of no bytes (UPC-027)", call, count);
  }
}
void check_lengths(const char* call, size_t dstcount, size_t dstlen, size_t srccount,
                   size_t srclen) noexcept {
  check_length(call, dstcount, dstlen);
  check_length(call, srccount, srclen);
}

}  // namespace

extern "C" {

bupc_handle_t bupc_memcpy_vlist_async(size_t dstcount, bupc_smemvec_t const dstlist[],
                                      size_t srccount, bupc_smemvec_t const srclist[]) {
  return start_streams("bupc_memcpy_vlist", Way::kCopy, SharedVector(dstlist, dstcount),
                       SharedVector(srclist, srccount));
}
bupc_handle_t bupc_memput_vlist_async(size_t dstcount, bupc_smemvec_t const dstlist[],
                                      size_t srccount, bupc_pmemvec_t const srclist[]) {
  return start_streams("bupc_memput_vlist", Way::kPut, SharedVector(dstlist, dstcount),
                       PrivateVector(srclist, srccount));
}
bupc_handle_t bupc_memget_vlist_async(size_t dstcount, bupc_pmemvec_t const dstlist[],
                                      size_t srccount, bupc_smemvec_t const srclist[]) {
  return start_streams("bupc_memget_vlist", Way::kGet, PrivateVector(dstlist, dstcount),
                       SharedVector(srclist, srccount));
}
void bupc_memcpy_vlist(size_t dstcount, bupc_smemvec_t const dstlist[], size_t srccount,
                       bupc_smemvec_t const srclist[]) {
  bupc_waitsync(bupc_memcpy_vlist_async(dstcount, dstlist, srccount, srclist));
}
void bupc_memput_vlist(size_t dstcount, bupc_smemvec_t const dstlist[], size_t srccount,
                       bupc_pmemvec_t const srclist[]) {
  bupc_waitsync(bupc_memput_vlist_async(dstcount, dstlist, srccount, srclist));
}
void bupc_memget_vlist(size_t dstcount, bupc_pmemvec_t const dstlist[], size_t srccount,
                       bupc_smemvec_t const srclist[]) {
  bupc_waitsync(bupc_memget_vlist_async(dstcount, dstlist, srccount, srclist));
}

bupc_handle_t bupc_memcpy_ilist_async(size_t dstcount, bupc_gptr_t const dstlist[], size_t dstlen,
                                      size_t srccount, bupc_gptr_t const srclist[], size_t srclen) {
  constexpr const char* kCall = "bupc_memcpy_ilist";
  check_lengths(kCall, dstcount, dstlen, srccount, srclen);
  return start_streams(kCall, Way::kCopy, SharedIndexed(dstlist, dstcount, dstlen),
                       SharedIndexed(srclist, srccount, srclen));
}
bupc_handle_t bupc_memput_ilist_async(size_t dstcount, bupc_gptr_t const dstlist[], size_t dstlen,
                                      size_t srccount, const void* const srclist[], size_t srclen) {
  constexpr const char* kCall = "bupc_memput_ilist";
  check_lengths(kCall, dstcount, dstlen, srccount, srclen);
  return start_streams(kCall, Way::kPut, SharedIndexed(dstlist, dstcount, dstlen),
                       PrivateSources(srclist, srccount, srclen));
}
bupc_handle_t bupc_memget_ilist_async(size_t dstcount, void* const dstlist[], size_t dstlen,
                                      size_t srccount, bupc_gptr_t const srclist[], size_t srclen) {
  constexpr const char* kCall = "bupc_memget_ilist";
  check_lengths(kCall, dstcount, dstlen, srccount, srclen);
  return start_streams(kCall, Way::kGet, PrivateDests(dstlist, dstcount, dstlen),
                       SharedIndexed(srclist, srccount, srclen));
}
void bupc_memcpy_ilist(size_t dstcount, bupc_gptr_t const dstlist[], size_t dstlen, size_t srccount,
                       bupc_gptr_t const srclist[], size_t srclen) {
  bupc_waitsync(bupc_memcpy_ilist_async(dstcount, dstlist, dstlen, srccount, srclist, srclen));
}
void bupc_memput_ilist(size_t dstcount, bupc_gptr_t const dstlist[], size_t dstlen, size_t srccount,
                       const void* const srclist[], size_t srclen) {
  bupc_waitsync(bupc_memput_ilist_async(dstcount, dstlist, dstlen, srccount, srclist, srclen));
}
void bupc_memget_ilist(size_t dstcount, void* const dstlist[], size_t dstlen, size_t srccount,
                       bupc_gptr_t const srclist[], size_t srclen) {
  bupc_waitsync(bupc_memget_ilist_async(dstcount, dstlist, dstlen, srccount, srclist, srclen));
}

}  // extern "C"

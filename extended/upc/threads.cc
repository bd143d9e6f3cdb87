// Threads, and what of an array is with which (UPC-041, UPC-042).
#include "extended/upc/handle.h"

namespace {

/// This archive links only beside the GASNet library of its mode, build and release.
[[gnu::used]] const char* const upc_library_of_mode = &PINWIRE_LIBRARY_OF_MODE;

}  // namespace

extern "C" {

uint32_t bupc_mythread() { return gasnet_mynode(); }
uint32_t bupc_threads() { return gasnet_nodes(); }

size_t bupc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid) {
  if (nbytes == 0) return threadid == 0 ? totalsize : 0;
  const size_t threads = bupc_threads(), blocks = totalsize / nbytes;
  const size_t whole = blocks / threads + (threadid < blocks % threads ? 1 : 0);
  // the last block, which is shorter, follows the whole ones
  const size_t rest = threadid == blocks % threads ? totalsize % nbytes : 0;
  return whole * nbytes + rest;
}

}  // extern "C"

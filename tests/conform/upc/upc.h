/* Used by cases of UPC's library beside those of cases.h. */
#ifndef PINWIRE_CONFORM_UPC_H
#define PINWIRE_CONFORM_UPC_H

#include "../cases.h"
#include "bupc_memcpy.h"

/* The shared job's segments end with what bupc_init() gave to bupc_all_alloc(). */
enum { kHeapBytes = 4 << 20 };

/* Shared memory that the calling rank alone writes, `offset` bytes from its beginning. */
static inline bupc_gptr_t shared(uint32_t thread, size_t offset) {
  const bupc_gptr_t pointer = {thread, 0, part(thread) + offset};
  return pointer;
}
/* These do not go through the library that is tested. */
static inline void write_there(bupc_gptr_t to, const void *bytes, size_t n) {
  gasnet_put_bulk(to.thread, to.addr, (void *)(uintptr_t)bytes, n);
}
static inline void read_there(void *bytes, bupc_gptr_t from, size_t n) {
  gasnet_get_bulk(bytes, from.thread, from.addr, n);
}

/* In a JOB of its own, which begins by itself. */
static inline void start_a_job(void) {
  if (gasnet_init(&program_argc, &program_argv) != GASNET_OK) exit(3);
  if (gasnet_attach(NULL, 0, kSegmentBytes, 0) != GASNET_OK) gasnet_exit(3);
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  gasnet_getSegmentInfo(segments, kNodesMax);
}

#endif

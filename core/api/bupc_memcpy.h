/* bupc_memcpy.h: the library of "Proposal for extending the UPC memory copy library functions" (UPC-001 to UPC-046) for
 * plain C: memory copies that are asynchronous, or of many pieces. Link with pinwire-upc-seq, -parsync or -par (pkg-config).
 *
 * A UPC thread is a rank of the job, `thread` its number. A shared pointer is a thread and an address there; memory that
 * it names lies in that thread's segment. Start the job as for GASNet: gasnet_init and gasnet_attach, or gex_Client_Init
 * and gex_Segment_Attach. The memory functions want no more; bupc_init() is for bupc_all_alloc() and bupc_ptr_add().
 *
 * All sizes, lengths and strides are bytes, at any alignment. Nothing here returns an error: a wrong thread, range or
 * total ends the job with a sentence, some only in libraries with checks of their clients. Unless a comment says
 * otherwise functions are not collective; client threads call them, outside handlers, held handler-safe locks and
 * No-Interrupt Sections. Macros upc_... for all names: define BUPC_UPC_NAMES before including this. */
#ifndef PINWIRE_BUPC_MEMCPY_H
#define PINWIRE_BUPC_MEMCPY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types (UPC-001 to UPC-006, UPC-020, UPC-039) ------------------------------------------------------------------- */

/* An operation under way, or BUPC_COMPLETE_HANDLE, all bits zero. It belongs to the client thread that got it, which
 * synchronises it once. A thread may have 65,535 under way. */
typedef struct bupc_handle *bupc_handle_t;
#define BUPC_COMPLETE_HANDLE ((bupc_handle_t)0)

/* A pointer to shared memory, 16 bytes. `phase` is the element's index in its block, for bupc_ptr_add() alone; all else
 * takes the pointer as (shared [] char *) and ignores it. */
typedef struct {
  uint32_t thread;
  uint32_t phase;
  void *addr;
} bupc_gptr_t;

/* A region of private memory, and one of shared memory. */
typedef struct {
  void *addr;
  size_t len;
} bupc_pmemvec_t;
typedef struct {
  bupc_gptr_t addr;
  size_t len;
} bupc_smemvec_t;

/* ---- Contiguous copies (UPC-007 to UPC-017, UPC-040, UPC-044) --------------------------------------------------------- */

/* Copy n bytes. put: from private memory; get: to private memory; copy: between any two threads, neither of which need be
 * the caller. They return when all is at the destination. Ranges do not overlap. */
void bupc_memcpy(bupc_gptr_t dst, bupc_gptr_t src, size_t n);
void bupc_memget(void *dst, bupc_gptr_t src, size_t n);
void bupc_memput(bupc_gptr_t dst, const void *src, size_t n);
void bupc_memset(bupc_gptr_t dst, int c, size_t n);

/* Begin the same. Until the handle is synchronised the destination is undefined, and the source stays as it is. They may
 * return BUPC_COMPLETE_HANDLE, and may wait for resources. */
bupc_handle_t bupc_memcpy_async(bupc_gptr_t dst, bupc_gptr_t src, size_t n);
bupc_handle_t bupc_memget_async(void *dst, bupc_gptr_t src, size_t n);
bupc_handle_t bupc_memput_async(bupc_gptr_t dst, const void *src, size_t n);
bupc_handle_t bupc_memset_async(bupc_gptr_t dst, int c, size_t n);

/* Begin the same as implicit operations of the calling client thread. */
void bupc_memcpy_asynci(bupc_gptr_t dst, bupc_gptr_t src, size_t n);
void bupc_memget_asynci(void *dst, bupc_gptr_t src, size_t n);
void bupc_memput_asynci(bupc_gptr_t dst, const void *src, size_t n);
void bupc_memset_asynci(bupc_gptr_t dst, int c, size_t n);

/* wait: returns when the operation is complete. try: never waits; non-zero if it is complete, which is then
 * synchronised. Given BUPC_COMPLETE_HANDLE, wait returns at once, and try returns non-zero. */
void bupc_waitsync(bupc_handle_t handle);
int bupc_trysync(bupc_handle_t handle);
/* all: every operation of the array is complete; some: at least one. Complete ones become BUPC_COMPLETE_HANDLE, which is
 * passed over; an array of nothing else succeeds at once. */
void bupc_waitsync_all(bupc_handle_t *ph, size_t numhandles);
int bupc_trysync_all(bupc_handle_t *ph, size_t numhandles);
void bupc_waitsync_some(bupc_handle_t *ph, size_t numhandles);
int bupc_trysync_some(bupc_handle_t *ph, size_t numhandles);

/* All implicit operations of the calling client thread; those of GASNet calls, too. Not inside an access region. */
void bupc_waitsynci(void);
int bupc_trysynci(void);

/* ---- Access regions (UPC-018, UPC-019) -------------------------------------------------------------------------------- */

/* The implicit operations in between belong to the handle that the second returns. Regions do not nest. */
void bupc_begin_accessregion(void);
bupc_handle_t bupc_end_accessregion(void);

/* ---- Lists (UPC-020 to UPC-028) --------------------------------------------------------------------------------------- */

/* The bytes of the source regions, in order, go into the destination regions, in order; both lists have as many. Each
 * shared region may lie with another thread. Destinations overlap neither each other nor a source. Regions of no bytes are
 * passed over. Both counts 0: nothing is done. The lists are free when an asynchronous call returns. */
void bupc_memcpy_vlist(size_t dstcount, bupc_smemvec_t const dstlist[], size_t srccount, bupc_smemvec_t const srclist[]);
void bupc_memput_vlist(size_t dstcount, bupc_smemvec_t const dstlist[], size_t srccount, bupc_pmemvec_t const srclist[]);
void bupc_memget_vlist(size_t dstcount, bupc_pmemvec_t const dstlist[], size_t srccount, bupc_smemvec_t const srclist[]);
bupc_handle_t bupc_memcpy_vlist_async(size_t dstcount, bupc_smemvec_t const dstlist[], size_t srccount, bupc_smemvec_t const srclist[]);
bupc_handle_t bupc_memput_vlist_async(size_t dstcount, bupc_smemvec_t const dstlist[], size_t srccount, bupc_pmemvec_t const srclist[]);
bupc_handle_t bupc_memget_vlist_async(size_t dstcount, bupc_pmemvec_t const dstlist[], size_t srccount, bupc_smemvec_t const srclist[]);

/* The same with regions of one length, which is not 0, on each side. */
void bupc_memcpy_ilist(size_t dstcount, bupc_gptr_t const dstlist[], size_t dstlen, size_t srccount, bupc_gptr_t const srclist[], size_t srclen);
void bupc_memput_ilist(size_t dstcount, bupc_gptr_t const dstlist[], size_t dstlen, size_t srccount, const void *const srclist[], size_t srclen);
void bupc_memget_ilist(size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, bupc_gptr_t const srclist[], size_t srclen);
bupc_handle_t bupc_memcpy_ilist_async(size_t dstcount, bupc_gptr_t const dstlist[], size_t dstlen, size_t srccount, bupc_gptr_t const srclist[],
                                      size_t srclen);
bupc_handle_t bupc_memput_ilist_async(size_t dstcount, bupc_gptr_t const dstlist[], size_t dstlen, size_t srccount, const void *const srclist[],
                                      size_t srclen);
bupc_handle_t bupc_memget_ilist_async(size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, bupc_gptr_t const srclist[],
                                      size_t srclen);

/* ---- Strides (UPC-029 to UPC-035) ------------------------------------------------------------------------------------- */

/* `chunkcount` chunks of `chunklen` bytes, which begin `chunkstride` >= chunklen bytes apart; the chunks of both ends may
 * differ, their total does not. Totals of 0: nothing is done. */
void bupc_memcpy_fstrided(bupc_gptr_t dstaddr, size_t dstchunklen, size_t dstchunkstride, size_t dstchunkcount, bupc_gptr_t srcaddr,
                          size_t srcchunklen, size_t srcchunkstride, size_t srcchunkcount);
void bupc_memput_fstrided(bupc_gptr_t dstaddr, size_t dstchunklen, size_t dstchunkstride, size_t dstchunkcount, void *srcaddr,
                          size_t srcchunklen, size_t srcchunkstride, size_t srcchunkcount);
void bupc_memget_fstrided(void *dstaddr, size_t dstchunklen, size_t dstchunkstride, size_t dstchunkcount, bupc_gptr_t srcaddr,
                          size_t srcchunklen, size_t srcchunkstride, size_t srcchunkcount);
bupc_handle_t bupc_memcpy_fstrided_async(bupc_gptr_t dstaddr, size_t dstchunklen, size_t dstchunkstride, size_t dstchunkcount,
                                         bupc_gptr_t srcaddr, size_t srcchunklen, size_t srcchunkstride, size_t srcchunkcount);
bupc_handle_t bupc_memput_fstrided_async(bupc_gptr_t dstaddr, size_t dstchunklen, size_t dstchunkstride, size_t dstchunkcount, void *srcaddr,
                                         size_t srcchunklen, size_t srcchunkstride, size_t srcchunkcount);
bupc_handle_t bupc_memget_fstrided_async(void *dstaddr, size_t dstchunklen, size_t dstchunkstride, size_t dstchunkcount, bupc_gptr_t srcaddr,
                                         size_t srcchunklen, size_t srcchunkstride, size_t srcchunkcount);

/* A box of any number of dimensions: count[0] bytes, count[1] times strides[0] bytes apart, that count[2] times strides[1]
 * bytes apart, ...; `count` has stridelevels + 1 entries, the strides have stridelevels. A count of 0: nothing is done.
 * Strides grow, and no part overlaps another: strides[0] >= count[0], strides[i] >= count[i] * strides[i - 1]. The arrays
 * are free when an asynchronous call returns. */
void bupc_memcpy_strided(bupc_gptr_t dstaddr, const size_t dststrides[], bupc_gptr_t srcaddr, const size_t srcstrides[], const size_t count[],
                         size_t stridelevels);
void bupc_memput_strided(bupc_gptr_t dstaddr, const size_t dststrides[], const void *srcaddr, const size_t srcstrides[], const size_t count[],
                         size_t stridelevels);
void bupc_memget_strided(void *dstaddr, const size_t dststrides[], bupc_gptr_t srcaddr, const size_t srcstrides[], const size_t count[],
                         size_t stridelevels);
bupc_handle_t bupc_memcpy_strided_async(bupc_gptr_t dstaddr, const size_t dststrides[], bupc_gptr_t srcaddr, const size_t srcstrides[],
                                        const size_t count[], size_t stridelevels);
bupc_handle_t bupc_memput_strided_async(bupc_gptr_t dstaddr, const size_t dststrides[], const void *srcaddr, const size_t srcstrides[],
                                        const size_t count[], size_t stridelevels);
bupc_handle_t bupc_memget_strided_async(void *dstaddr, const size_t dststrides[], bupc_gptr_t srcaddr, const size_t srcstrides[],
                                        const size_t count[], size_t stridelevels);

/* ---- Threads and shared arrays (UPC-041 to UPC-043) ------------------------------------------------------------------- */

/* The calling process's thread number, and how many threads the job has; after gasnet_init or gex_Client_Init. */
uint32_t bupc_mythread(void);
uint32_t bupc_threads(void);

/* The bytes that `threadid` has of an array of totalsize bytes in blocks of nbytes, which go to the threads in turn. */
size_t bupc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid);

/* Gives `bytes` bytes from `offset` on, in the segment of every thread, to bupc_all_alloc(); a page's multiple is best.
 * Collective: all threads pass the same, once, after the segments are there. 0; non-zero, and nothing is changed, if a
 * segment is smaller, or it was called before. Not of clients with GASNET_SEGMENT_EVERYTHING, which have no segments. */
int bupc_init(size_t offset, size_t bytes);
/* Shared memory of nblocks blocks of nbytes, which go to the threads in turn: with each thread as much as with any
 * other, at the same offset of its segment, aligned to 64 bytes. Returns the first byte of thread 0, or a NULL addr if
 * there is no room. Collective: all threads pass the same, in the same order; one client thread of a process at a time.
 * No barrier. */
bupc_gptr_t bupc_all_alloc(size_t nblocks, size_t nbytes);
/* Frees it; a NULL addr is passed over. Collective likewise; nobody uses the memory any more. */
void bupc_all_free(bupc_gptr_t first);
/* &p[i] of shared [block] elements of elemsize bytes: from the element that p points to, whose phase p has, i elements
 * on, backwards if i is negative. block 0: all elements are p's thread's; at most 2^32 - 1. Wants bupc_init(). Anywhere. */
bupc_gptr_t bupc_ptr_add(bupc_gptr_t p, ptrdiff_t i, size_t block, size_t elemsize);

#ifdef __cplusplus
}
#endif

#ifdef BUPC_UPC_NAMES
#define upc_handle_t bupc_handle_t
#define UPC_COMPLETE_HANDLE BUPC_COMPLETE_HANDLE
#define upc_pmemvec_t bupc_pmemvec_t
#define upc_smemvec_t bupc_smemvec_t
#define upc_memcpy bupc_memcpy
#define upc_memget bupc_memget
#define upc_memput bupc_memput
#define upc_memset bupc_memset
#define upc_memcpy_async bupc_memcpy_async
#define upc_memget_async bupc_memget_async
#define upc_memput_async bupc_memput_async
#define upc_memset_async bupc_memset_async
#define upc_memcpy_asynci bupc_memcpy_asynci
#define upc_memget_asynci bupc_memget_asynci
#define upc_memput_asynci bupc_memput_asynci
#define upc_memset_asynci bupc_memset_asynci
#define upc_waitsync bupc_waitsync
#define upc_trysync bupc_trysync
#define upc_waitsync_all bupc_waitsync_all
#define upc_trysync_all bupc_trysync_all
#define upc_waitsync_some bupc_waitsync_some
#define upc_trysync_some bupc_trysync_some
#define upc_waitsynci bupc_waitsynci
#define upc_trysynci bupc_trysynci
#define upc_begin_accessregion bupc_begin_accessregion
#define upc_end_accessregion bupc_end_accessregion
#define upc_memcpy_vlist bupc_memcpy_vlist
#define upc_memput_vlist bupc_memput_vlist
#define upc_memget_vlist bupc_memget_vlist
#define upc_memcpy_vlist_async bupc_memcpy_vlist_async
#define upc_memput_vlist_async bupc_memput_vlist_async
#define upc_memget_vlist_async bupc_memget_vlist_async
#define upc_memcpy_ilist bupc_memcpy_ilist
#define upc_memput_ilist bupc_memput_ilist
#define upc_memget_ilist bupc_memget_ilist
#define upc_memcpy_ilist_async bupc_memcpy_ilist_async
#define upc_memput_ilist_async bupc_memput_ilist_async
#define upc_memget_ilist_async bupc_memget_ilist_async
#define upc_memcpy_fstrided bupc_memcpy_fstrided
#define upc_memput_fstrided bupc_memput_fstrided
#define upc_memget_fstrided bupc_memget_fstrided
#define upc_memcpy_fstrided_async bupc_memcpy_fstrided_async
#define upc_memput_fstrided_async bupc_memput_fstrided_async
#define upc_memget_fstrided_async bupc_memget_fstrided_async
#define upc_memcpy_strided bupc_memcpy_strided
#define upc_memput_strided bupc_memput_strided
#define upc_memget_strided bupc_memget_strided
#define upc_memcpy_strided_async bupc_memcpy_strided_async
#define upc_memput_strided_async bupc_memput_strided_async
#define upc_memget_strided_async bupc_memget_strided_async
#define upc_affinitysize bupc_affinitysize
#define upc_all_alloc bupc_all_alloc
#define upc_all_free bupc_all_free
#define MYTHREAD bupc_mythread()
#define THREADS bupc_threads()
#endif

#endif

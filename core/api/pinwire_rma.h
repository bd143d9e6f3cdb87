/* pinwire_rma.h: the extended API (3): puts, gets, memsets, their synchronisation, barriers, thread
 * information. Included by gasnet.h only.
 *
 * A peer on the same host has its segment mapped into this process, so a put or get to it is a copy:
 * it is inlined here, down to one load or store where nbytes is a constant. Everything else goes
 * through a function. Alignment is never required (C1-216). */
#ifndef PINWIRE_RMA_H
#define PINWIRE_RMA_H

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a node's segment is in this process; size 0 when it is not mapped here. */
struct pinwire_reach {
  uintptr_t base;  /* of the segment, as its owner sees it */
  uintptr_t size;  /* bytes that may be reached directly; 0 in processes with segments in device memory, which look first */
  uintptr_t delta; /* add to an address of the owner's to get one of ours */
  uintptr_t mapped; /* bytes that are mapped here, for the library */
};
/* One entry a node, then one of size 0. */
extern struct pinwire_reach *pinwire_reach;

/* Our address of [remote, remote + nbytes) at `node`, or NULL when it must go through a driver: so
 * must nothing at all, whose addresses may be anything (C1-212). `local`: the transfer's other end, or
 * NULL; debug builds look whether the two overlap. */
#ifdef GASNET_DEBUG
#define pinwire_direct(node, remote, local, nbytes) \
  pinwire_checked_direct(__func__, node, remote, local, nbytes)
void *pinwire_checked_direct(const char *call, gasnet_node_t node, const void *remote, const void *local,
                             size_t nbytes);
#else
static inline void *pinwire_direct(gasnet_node_t node, const void *remote, const void *local,
                                   size_t nbytes) {
  const struct pinwire_reach *reach = &pinwire_reach[node];
  /* Another thread may fill the entry just now, the size last: what is read behind this load is as new as the size. */
  const uintptr_t size = __atomic_load_n(&reach->size, __ATOMIC_ACQUIRE);
  const uintptr_t offset = (uintptr_t)remote - reach->base;
  (void)local;
  if (__builtin_expect(offset < size && nbytes - 1 < size - offset, 1))
    return (void *)((uintptr_t)remote + reach->delta);
  return NULL;
}
#endif

/* Copies by the driver; `node` may be any. The nb forms return GASNET_INVALID_HANDLE when done. */
void pinwire_put(gasnet_node_t node, void *dest, void *src, size_t nbytes);
void pinwire_get(void *dest, gasnet_node_t node, void *src, size_t nbytes);
gasnet_handle_t pinwire_put_nb(gasnet_node_t node, void *dest, void *src, size_t nbytes, int is_bulk);
gasnet_handle_t pinwire_get_nb(void *dest, gasnet_node_t node, void *src, size_t nbytes);
void pinwire_put_nbi(gasnet_node_t node, void *dest, void *src, size_t nbytes, int is_bulk);
void pinwire_get_nbi(void *dest, gasnet_node_t node, void *src, size_t nbytes);

/* Program order of direct copies against the flags and messages that announce them (C1-221). */
static inline void pinwire_put_direct(void *to, const void *src, size_t nbytes) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memcpy(to, src, nbytes);
  __atomic_thread_fence(__ATOMIC_RELEASE);
}
static inline void pinwire_get_direct(void *dest, const void *from, size_t nbytes) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  memcpy(dest, from, nbytes);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* ---- 3.2 Blocking ----------------------------------------------------------------------------- */

static inline void gasnet_put(gasnet_node_t node, void *dest, void *src, size_t nbytes) {
  void *to = pinwire_direct(node, dest, src, nbytes);
  if (to)
    pinwire_put_direct(to, src, nbytes);
  else
    pinwire_put(node, dest, src, nbytes);
}
static inline void gasnet_get(void *dest, gasnet_node_t node, void *src, size_t nbytes) {
  const void *from = pinwire_direct(node, src, dest, nbytes);
  if (from)
    pinwire_get_direct(dest, from, nbytes);
  else
    pinwire_get(dest, node, src, nbytes);
}
static inline void gasnet_put_bulk(gasnet_node_t node, void *dest, void *src, size_t nbytes) {
  gasnet_put(node, dest, src, nbytes);
}
static inline void gasnet_get_bulk(void *dest, gasnet_node_t node, void *src, size_t nbytes) {
  gasnet_get(dest, node, src, nbytes);
}
void gasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes);

/* ---- 3.3.2 Explicit handles: owned by the calling thread until synchronised ------------------------ */

static inline gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void *dest, void *src,
                                            size_t nbytes) {
  void *to = pinwire_direct(node, dest, src, nbytes);
  if (!to) return pinwire_put_nb(node, dest, src, nbytes, 0);
  pinwire_put_direct(to, src, nbytes);
  return GASNET_INVALID_HANDLE;
}
static inline gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void *dest, void *src,
                                                 size_t nbytes) {
  void *to = pinwire_direct(node, dest, src, nbytes);
  if (!to) return pinwire_put_nb(node, dest, src, nbytes, 1);
  pinwire_put_direct(to, src, nbytes);
  return GASNET_INVALID_HANDLE;
}
static inline gasnet_handle_t gasnet_get_nb(void *dest, gasnet_node_t node, void *src,
                                            size_t nbytes) {
  const void *from = pinwire_direct(node, src, dest, nbytes);
  if (!from) return pinwire_get_nb(dest, node, src, nbytes);
  pinwire_get_direct(dest, from, nbytes);
  return GASNET_INVALID_HANDLE;
}
static inline gasnet_handle_t gasnet_get_nb_bulk(void *dest, gasnet_node_t node, void *src,
                                                 size_t nbytes) {
  return gasnet_get_nb(dest, node, src, nbytes);
}
gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void *dest, int val, size_t nbytes);

/* ---- 3.3.3 Synchronisation: try_ forms poll once (GX-012), and return GASNET_OK or GASNET_ERR_NOT_READY ------------ */

void pinwire_wait_handle(gasnet_handle_t handle);
int pinwire_try_handle(gasnet_handle_t handle);
static inline void gasnet_wait_syncnb(gasnet_handle_t handle) {
  PINWIRE_CHECK_WAIT("gasnet_wait_syncnb");
  if (handle != GASNET_INVALID_HANDLE) pinwire_wait_handle(handle);
}
static inline int gasnet_try_syncnb(gasnet_handle_t handle) {
  PINWIRE_CHECK_WAIT("gasnet_try_syncnb");
  return pinwire_try_handle(handle);
}
/* Completed entries become GASNET_INVALID_HANDLE, also when the call returns NOT_READY (C1-238). */
void gasnet_wait_syncnb_all(gasnet_handle_t *handles, size_t numhandles);
int gasnet_try_syncnb_all(gasnet_handle_t *handles, size_t numhandles);
void gasnet_wait_syncnb_some(gasnet_handle_t *handles, size_t numhandles);
int gasnet_try_syncnb_some(gasnet_handle_t *handles, size_t numhandles);

/* ---- 3.3.4 Implicit handles -------------------------------------------------------------------- */

static inline void gasnet_put_nbi(gasnet_node_t node, void *dest, void *src, size_t nbytes) {
  void *to = pinwire_direct(node, dest, src, nbytes);
  if (to)
    pinwire_put_direct(to, src, nbytes);
  else
    pinwire_put_nbi(node, dest, src, nbytes, 0);
}
static inline void gasnet_put_nbi_bulk(gasnet_node_t node, void *dest, void *src, size_t nbytes) {
  void *to = pinwire_direct(node, dest, src, nbytes);
  if (to)
    pinwire_put_direct(to, src, nbytes);
  else
    pinwire_put_nbi(node, dest, src, nbytes, 1);
}
static inline void gasnet_get_nbi(void *dest, gasnet_node_t node, void *src, size_t nbytes) {
  const void *from = pinwire_direct(node, src, dest, nbytes);
  if (from)
    pinwire_get_direct(dest, from, nbytes);
  else
    pinwire_get_nbi(dest, node, src, nbytes);
}
static inline void gasnet_get_nbi_bulk(void *dest, gasnet_node_t node, void *src, size_t nbytes) {
  gasnet_get_nbi(dest, node, src, nbytes);
}
void gasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes);

void gasnet_wait_syncnbi_gets(void);
void gasnet_wait_syncnbi_puts(void);
void gasnet_wait_syncnbi_all(void);
int gasnet_try_syncnbi_gets(void);
int gasnet_try_syncnbi_puts(void);
int gasnet_try_syncnbi_all(void);

/* Paired, not nested, no implicit synchronisation inside (C1-252). */
void gasnet_begin_nbi_accessregion(void);
gasnet_handle_t gasnet_end_nbi_accessregion(void);
#ifdef GASNET_DEBUG
void pinwire_begin_nbi_accessregion_at(const char *file, int line);
#ifndef PINWIRE_LIBRARY
#define gasnet_begin_nbi_accessregion() pinwire_begin_nbi_accessregion_at(__FILE__, __LINE__)
#endif
#endif

/* ---- 3.4 Register-memory: 0 < nbytes <= 8, any of them; gets are zero-extended -------------------- */

/* The address of the low-order `nbytes` of a value in memory. */
static inline void *pinwire_low_bytes(gasnet_register_value_t *value, size_t nbytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  (void)nbytes;
  return value;
#else
  return (char *)value + (sizeof *value - nbytes);
#endif
}
/* A value to and from memory, and a copy, for clients that do what puts and gets of values do. */
static inline void pinwire_assign_value(void *dest, gasnet_register_value_t value, size_t nbytes) {
  memcpy(dest, pinwire_low_bytes(&value, nbytes), nbytes);
}
static inline gasnet_register_value_t pinwire_value_of(const void *src, size_t nbytes) {
  gasnet_register_value_t value = 0;
  memcpy(pinwire_low_bytes(&value, nbytes), src, nbytes);
  return value;
}
#define GASNETT_VALUE_ASSIGN(dest, value, nbytes) pinwire_assign_value(dest, (gasnet_register_value_t)(value), nbytes)
#define GASNETT_VALUE_RETURN(src, nbytes) return pinwire_value_of(src, nbytes)
#define GASNETT_FAST_ALIGNED_MEMCPY(dest, src, nbytes) ((void)memcpy(dest, src, nbytes))
#define GASNETT_FAST_UNALIGNED_MEMCPY(dest, src, nbytes) ((void)memcpy(dest, src, nbytes))

static inline void gasnet_put_val(gasnet_node_t node, void *dest, gasnet_register_value_t value,
                                  size_t nbytes) {
  gasnet_put(node, dest, pinwire_low_bytes(&value, nbytes), nbytes);
}
static inline gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void *dest,
                                                gasnet_register_value_t value, size_t nbytes) {
  return gasnet_put_nb(node, dest, pinwire_low_bytes(&value, nbytes), nbytes);
}
static inline void gasnet_put_nbi_val(gasnet_node_t node, void *dest, gasnet_register_value_t value,
                                      size_t nbytes) {
  gasnet_put_nbi(node, dest, pinwire_low_bytes(&value, nbytes), nbytes);
}
static inline gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void *src, size_t nbytes) {
  gasnet_register_value_t value = 0;
  gasnet_get(pinwire_low_bytes(&value, nbytes), node, src, nbytes);
  return value;
}
gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void *src, size_t nbytes);
gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle);

/* ---- 3.5 Barriers: one thread a node at a time ---------------------------------------------------- */

void gasnet_barrier_notify(int id, int flags);
int gasnet_barrier_wait(int id, int flags);
int gasnet_barrier_try(int id, int flags);
/* notify and wait in one; not in the specification, but expected (C1-311). */
int gasnet_barrier(int id, int flags);
/* Likewise: the name of the last barrier, which was not a mismatch, to *id; non-zero, and nothing written, if it was
 * anonymous. In a process that began with gex_Client_Init the flags of notify and wait may differ, as clients of
 * GASNet-EX expect: a wait that names must name what all notifies agreed on. */
int gasnet_barrier_result(int *id);

/* ---- 3.6.1 Thread information: optional, without effect ------------------------------------------- */

#define GASNET_GET_THREADINFO() ((gasnet_threadinfo_t)0)
/* In C a declaration, so that others may follow it in C89 (C1-279): a tag, which hides none of an outer
 * block, with a use of `info` (C1-281). */
#ifdef __cplusplus
#define GASNET_POST_THREADINFO(info) ((void)(info))
#else
#define GASNET_POST_THREADINFO(info)   \
  struct pinwire_threadinfo_of_block { \
    char posted[sizeof(info)];         \
  }
#endif
#define GASNET_BEGIN_FUNCTION() GASNET_POST_THREADINFO(GASNET_GET_THREADINFO())

#ifdef __cplusplus
}
#endif

#endif

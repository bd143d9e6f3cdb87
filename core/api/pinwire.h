/* pinwire.h: what Pinwire tells beyond GASNet. Include after gasnet.h. */
#ifndef PINWIRE_H
#define PINWIRE_H

#include "gasnet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *name; /* driver.counter or dispatch.counter, lower_snake_case, unit last; owned by the library */
  uint64_t value;
} pinwire_stat_t;

/* Counters of all drivers of this process, and of its dispatcher, since start, by name. Fills at most `count` entries and
 * returns how many there are. Client threads, after gasnet_attach. */
size_t pinwire_stats(pinwire_stat_t *out, size_t count);

/* How messages to `peer` travel: "shm", "dpdk", "self". */
const char *pinwire_driver_name(gasnet_node_t peer);

/* How the operations of an atomic domain (gex_AD_t) go. "nic": all are the target's NIC's, those on the caller's own
 * memory, too; it is so where a domain of several hosts has nothing but what the NICs do, and their atomics do not meet
 * the CPUs'. Otherwise each goes the fastest way that there is. "cpu": all members share memory; "cpu+nic",
 * "cpu+messages": a member that shares no memory with the target asks the target's NIC, or by a message its CPU for
 * what one NIC or another does not do. */
struct pinwire_ad;
const char *pinwire_ad_path(struct pinwire_ad *ad);

/* The way in which handlers of messages to this rank run, as GASNET_DISPATCH names it: "poll", "interrupt", ... */
const char *pinwire_dispatch(void);

/* Requests that may be in flight to one peer (GASNET_NETWORKDEPTH). */
uint32_t pinwire_network_depth(void);
/* Lanes of this process and the one the calling thread uses. */
uint32_t pinwire_lanes(void);
uint32_t pinwire_my_lane(void);

/* ---- Copies between any two nodes ------------------------------------------------------------------------------ */

/* `bytes` bytes from `source`, in the segment of one node, to `dest`, in that of another; any alignment. No destination
 * overlaps a source or another destination. */
typedef struct {
  const void *source;
  void *dest;
  size_t bytes;
} pinwire_copy_t;

/* Starts copies from one node to another, neither of which need be the caller. Where the caller shares memory with
 * both it copies at once. Otherwise it asks the source's node, which puts the bytes to the destination and answers when
 * they are there; that node makes progress inside its own library calls. At most eight requests of sixteen copies are
 * with one source: the call waits for its answers beyond that. `pieces` is free on return. The handle, or the implicit
 * puts, are complete when all bytes are at the destination. A range outside the segment of another node ends the job
 * with a sentence. Client threads, outside handlers, after gasnet_attach or gex_Segment_Attach. */
gasnet_handle_t pinwire_copy_nb(gasnet_node_t dest_node, gasnet_node_t source_node, size_t count, const pinwire_copy_t pieces[]);
void pinwire_copy_nbi(gasnet_node_t dest_node, gasnet_node_t source_node, size_t count, const pinwire_copy_t pieces[]);

/* The implicit operations that this thread starts between the two calls belong to the handle that pinwire_end_group()
 * returns. Groups may be begun inside an access region, which goes on afterwards, and inside each other: `outer` is what
 * pinwire_begin_group() has returned. Nothing implicit is synchronised in between. The first of a thread that has 66,000
 * operations under way ends the job with a sentence. Client threads, outside handlers. */
gasnet_handle_t pinwire_begin_group(void);
gasnet_handle_t pinwire_end_group(gasnet_handle_t outer);

/* 1 while this process waits for a debugger (GASNET_FREEZE and its kin), which sets it to 0. */
extern volatile int pinwire_frozen;

#ifdef __cplusplus
}
#endif

#endif

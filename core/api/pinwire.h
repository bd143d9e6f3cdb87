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

/* 1 while this process waits for a debugger (GASNET_FREEZE and its kin), which sets it to 0. */
extern volatile int pinwire_frozen;

#ifdef __cplusplus
}
#endif

#endif

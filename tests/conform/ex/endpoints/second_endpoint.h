/* A second endpoint of each rank, with memory and handlers, for the cases that need one: endpoints
 * live as long as the job, so that there is one for all. */
#ifndef PINWIRE_CONFORM_SECOND_ENDPOINT_H
#define PINWIRE_CONFORM_SECOND_ENDPOINT_H

#include "../ex.h"

enum { kSecondBytes = 1 << 16, kEndpoints = 2 };
extern gex_EP_t endpoints[kEndpoints]; /* the first is gex_Client_Init's */
extern gex_EP_Index_t second_index;
extern gex_Segment_t second_segment;

/* Collective: makes it when it is called first; and begins a count of messages. */
void need_second_endpoint(void);

/* The part of a rank's second endpoint that is this rank's alone. */
unsigned char *second_part(gex_Rank_t owner);
size_t second_part_bytes(void);

/* Indices on both endpoints. Requests count in came[0] or came[1], by the endpoint that they came
 * to; they have a payload that fill(.., seed) made, and are answered by a Short reply, which counts
 * in answered[0] or [1]. A request may be a Short to on_answer, too. */
extern _Atomic unsigned came[kEndpoints], answered[kEndpoints];
gex_AM_Index_t payload_handler(void), answer_handler(void);
/* TM-pairs that the last request's handler made: of either endpoint to either index, two of each.
 */
extern gex_TM_t pairs_of_handler[2][kEndpoints][kEndpoints];

#endif

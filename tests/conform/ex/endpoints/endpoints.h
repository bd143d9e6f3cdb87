/* Shared by cases of further endpoints and segments. Endpoints live as long as the job: a case
 * makes few of them, on every rank as many, so that an index means the same everywhere. */
#ifndef PINWIRE_CONFORM_ENDPOINTS_H
#define PINWIRE_CONFORM_ENDPOINTS_H

#include "../ex.h"

/* Without it the case would not come to an end. */
static inline void want(int is_there, const char *what) {
  if (is_there) return;
  fprintf(stderr, "rank %u has no %s\n", (unsigned)me, what);
  gasnet_exit(3);
}

static inline gex_EP_t make_endpoint(gex_EP_Capabilities_t capabilities) {
  gex_EP_t made = GEX_EP_INVALID;
  EXPECT_EQ(gex_EP_Create(&made, client, capabilities, 0), GASNET_OK);
  want(made != GEX_EP_INVALID, "further endpoint");
  return made;
}

/* Makes one of the library's memory where address is NULL. */
static inline gex_Segment_t make_segment(void *address, uintptr_t bytes) {
  gex_Segment_t made = GEX_SEGMENT_INVALID;
  EXPECT_EQ(gex_Segment_Create(&made, client, address, bytes, GEX_MK_HOST, 0), GASNET_OK);
  want(made != GEX_SEGMENT_INVALID, "further segment");
  return made;
}

/* From one endpoint of this rank to those of the other's index. */
static inline gex_TM_t pair_of(gex_EP_t from, gex_EP_t to) {
  return gex_TM_Pair(from, gex_EP_QueryIndex(to));
}

/* Where that endpoint's segment begins. */
static inline unsigned char *memory_of(gex_TM_t tm, gex_Rank_t rank, uintptr_t least) {
  void *address = NULL;
  uintptr_t bytes = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &address, NULL, &bytes, 0));
  want(address != NULL && bytes >= least, "segment of a peer's endpoint");
  return address;
}

/* Puts, and gets it back. */
static inline void expect_reached(gex_TM_t tm, gex_Rank_t rank, unsigned char *there, size_t bytes,
                                  unsigned seed) {
  unsigned char *own = malloc(bytes), *back = calloc(1, bytes);
  if (own == NULL || back == NULL) abort();
  fill(own, bytes, seed);
  EXPECT_EQ(gex_RMA_PutBlocking(tm, rank, there, own, bytes, 0), 0);
  EXPECT_EQ(gex_RMA_GetBlocking(tm, back, rank, there, bytes, 0), 0);
  EXPECT(holds(back, bytes, seed));
  free(own);
  free(back);
}

#endif

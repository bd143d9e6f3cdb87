/* Calls of puts and gets, of the types that GASNet-EX 0.19 gives them ("Remote Memory Access",
 * "Vector, Indexed and Strided"). The compiler checks them; what they do is shown elsewhere. */
#include "../ex.h"

CASE(puts_and_gets, "GX-123") {
  typedef int put_t(gex_TM_t, gex_Rank_t, void *, const void *, size_t, gex_Flags_t);
  typedef int get_t(gex_TM_t, void *, gex_Rank_t, void *, size_t, gex_Flags_t);
  typedef gex_Event_t get_nb_t(gex_TM_t, void *, gex_Rank_t, void *, size_t, gex_Flags_t);
  IS(gex_RMA_PutBlocking, put_t);
  IS(gex_RMA_PutNBI,
     int(gex_TM_t, gex_Rank_t, void *, const void *, size_t, gex_Event_t *, gex_Flags_t));
  IS(gex_RMA_PutNB,
     gex_Event_t(gex_TM_t, gex_Rank_t, void *, const void *, size_t, gex_Event_t *, gex_Flags_t));
  IS(gex_RMA_GetBlocking, get_t);
  IS(gex_RMA_GetNBI, get_t);
  IS(gex_RMA_GetNB, get_nb_t);
}

CASE(values, "GX-123") {
  typedef int put_t(gex_TM_t, gex_Rank_t, void *, gex_RMA_Value_t, size_t, gex_Flags_t);
  IS(gex_RMA_GetBlockingVal, gex_RMA_Value_t(gex_TM_t, gex_Rank_t, void *, size_t, gex_Flags_t));
  IS(gex_RMA_PutBlockingVal, put_t);
  IS(gex_RMA_PutNBIVal, put_t);
  IS(gex_RMA_PutNBVal,
     gex_Event_t(gex_TM_t, gex_Rank_t, void *, gex_RMA_Value_t, size_t, gex_Flags_t));
}

/* Puts name the peer and its pieces first, gets the pieces here. */
#define THREE_FORMS(name, ...)            \
  IS(name##NB, gex_Event_t(__VA_ARGS__)); \
  IS(name##NBI, int(__VA_ARGS__));        \
  IS(name##Blocking, int(__VA_ARGS__))

CASE(many_pieces, "GX-131 GX-132") {
  typedef const gex_Memvec_t *vector_t;
  typedef void *const *index_t;
  typedef const ptrdiff_t *strides_t;
  THREE_FORMS(gex_VIS_VectorGet, gex_TM_t, size_t, vector_t, gex_Rank_t, size_t, vector_t,
              gex_Flags_t);
  THREE_FORMS(gex_VIS_VectorPut, gex_TM_t, gex_Rank_t, size_t, vector_t, size_t, vector_t,
              gex_Flags_t);
  THREE_FORMS(gex_VIS_IndexedGet, gex_TM_t, size_t, index_t, size_t, gex_Rank_t, size_t, index_t,
              size_t, gex_Flags_t);
  THREE_FORMS(gex_VIS_IndexedPut, gex_TM_t, gex_Rank_t, size_t, index_t, size_t, size_t, index_t,
              size_t, gex_Flags_t);
  THREE_FORMS(gex_VIS_StridedGet, gex_TM_t, void *, strides_t, gex_Rank_t, void *, strides_t,
              size_t, const size_t *, size_t, gex_Flags_t);
  THREE_FORMS(gex_VIS_StridedPut, gex_TM_t, gex_Rank_t, void *, strides_t, void *, strides_t,
              size_t, const size_t *, size_t, gex_Flags_t);
}

CASE(peer_completion, "GX-131") {
  IS(gex_VIS_SetPeerCompletionHandler, void(gex_AM_Index_t, const void *, size_t, gex_Flags_t));
  IS(GEX_VIS_MAX_PEERCOMPLETION, size_t);
  EXPECT(GEX_VIS_MAX_PEERCOMPLETION >= 127);
}

// gasnet_vis.h: the C entry points of transfers of many pieces (GX-131 to GX-139).
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/checks/usage.h"
#include "extended/rma/explicit.h"
#include "extended/state/objects.h"
#include "extended/vis/peer_completion.h"
#include "extended/vis/transfer.h"

using namespace pinwire;
using namespace pinwire::vis;

namespace {

using Vector = VectorPieces<gex_Memvec_t, &gex_Memvec_t::gex_addr, &gex_Memvec_t::gex_len>;

/// start(op) begins it all; `how` it is synchronised.
template <typename Start>
gex_Event_t start_as(int how, pinwire_op& (*implicit)() noexcept, Start&& start) noexcept {
  if (how == PINWIRE_VIS_NB) return start_explicit(start);
  if (how == PINWIRE_VIS_NBI) {
    start(implicit());
    return GEX_EVENT_INVALID;
  }
  pinwire_op here{};
  start(here);
  wait_here(here);
  return GEX_EVENT_INVALID;
}

/// Implicit ones all count as puts whose local completion was asked for, which those that look for
/// puts wait for, too: the source is the driver's until then (GX-036).
/// `is_nothing`: whatever the arguments are, there is nothing to do but to tell the peer, if that
/// is wanted (GX-137, VIS-015, VIS-022).
template <typename Start>
gex_Event_t put_as(const char* call, Target to, int how, bool is_nothing, Start&& start) noexcept {
  if (is_nothing && !has_peer_completion()) return GEX_EVENT_INVALID;
  check_target(call, to);
  const ClientCall inside(call);
  note_event(Event::kPutNb, rank_of(to));
  const PeerCompletion completion = take_peer_completion();
  if (completion.handler == 0) return start_as(how, implicit_locals, start);
  if (!is_nothing) start_as(PINWIRE_VIS_BLOCKING, implicit_locals, start);
  tell_peer(to, completion);
  return GEX_EVENT_INVALID;
}

template <typename Start>
gex_Event_t get_as(const char* call, Target from, int how, bool is_nothing,
                   Start&& start) noexcept {
  if (is_nothing) return GEX_EVENT_INVALID;
  check_target(call, from);
  const ClientCall inside(call);
  note_event(Event::kGetNb, rank_of(from));
  return start_as(how, implicit_gets, start);
}

}  // namespace

extern "C" {

int pinwire_vis_tells_peer() { return has_peer_completion(); }

gex_Event_t pinwire_vis_put_vector(gasnet_node_t target, int how, size_t dstcount,
                                   gex_Memvec_t const dstlist[], size_t srccount,
                                   gex_Memvec_t const srclist[]) {
  constexpr const char* kCall = "gex_VIS_VectorPut";
  return put_as(kCall, target, how, dstcount == 0 && srccount == 0, [&](pinwire_op& op) {
    start_put_of(kCall, target, Vector(srclist, srccount), Vector(dstlist, dstcount), op);
  });
}
gex_Event_t pinwire_vis_get_vector(gasnet_node_t target, int how, size_t dstcount,
                                   gex_Memvec_t const dstlist[], size_t srccount,
                                   gex_Memvec_t const srclist[]) {
  constexpr const char* kCall = "gex_VIS_VectorGet";
  return get_as(kCall, target, how, dstcount == 0 && srccount == 0, [&](pinwire_op& op) {
    start_get_of(kCall, target, Vector(dstlist, dstcount), Vector(srclist, srccount), op);
  });
}

gex_Event_t pinwire_vis_put_indexed(gasnet_node_t target, int how, size_t dstcount,
                                    void* const dstlist[], size_t dstlen, size_t srccount,
                                    void* const srclist[], size_t srclen) {
  constexpr const char* kCall = "gex_VIS_IndexedPut";
  return put_as(kCall, target, how, dstcount == 0 && srccount == 0, [&](pinwire_op& op) {
    start_put_of(kCall, target, IndexedPieces(srclist, srccount, srclen),
                 IndexedPieces(dstlist, dstcount, dstlen), op);
  });
}
gex_Event_t pinwire_vis_get_indexed(gasnet_node_t target, int how, size_t dstcount,
                                    void* const dstlist[], size_t dstlen, size_t srccount,
                                    void* const srclist[], size_t srclen) {
  constexpr const char* kCall = "gex_VIS_IndexedGet";
  return get_as(kCall, target, how, dstcount == 0 && srccount == 0, [&](pinwire_op& op) {
    start_get_of(kCall, target, IndexedPieces(dstlist, dstcount, dstlen),
                 IndexedPieces(srclist, srccount, srclen), op);
  });
}

gex_Event_t pinwire_vis_put_strided(gasnet_node_t target, int how, void* dstaddr,
                                    const ptrdiff_t dststrides[], void* srcaddr,
                                    const ptrdiff_t srcstrides[], size_t elemsz,
                                    const size_t count[], size_t stridelevels) {
  constexpr const char* kCall = "gex_VIS_StridedPut";
  const bool is_nothing = pinwire_vis_is_nothing(elemsz, count, stridelevels);
  return put_as(kCall, target, how, is_nothing, [&](pinwire_op& op) {
    const Section section{elemsz, srcstrides, dststrides, count, stridelevels};
    for_each_box(section, [&](const Box& box, ptrdiff_t here, ptrdiff_t there) {
      start_put_box(target, static_cast<std::byte*>(dstaddr) + there,
                    static_cast<std::byte*>(srcaddr) + here, box, op);
    });
  });
}
gex_Event_t pinwire_vis_get_strided(gasnet_node_t target, int how, void* dstaddr,
                                    const ptrdiff_t dststrides[], void* srcaddr,
                                    const ptrdiff_t srcstrides[], size_t elemsz,
                                    const size_t count[], size_t stridelevels) {
  constexpr const char* kCall = "gex_VIS_StridedGet";
  const bool is_nothing = pinwire_vis_is_nothing(elemsz, count, stridelevels);
  return get_as(kCall, target, how, is_nothing, [&](pinwire_op& op) {
    const Section section{elemsz, dststrides, srcstrides, count, stridelevels};
    for_each_box(section, [&](const Box& box, ptrdiff_t here, ptrdiff_t there) {
      start_get_box(target, static_cast<std::byte*>(dstaddr) + here,
                    static_cast<std::byte*>(srcaddr) + there, box, op);
    });
  });
}

void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr,
                                      size_t nbytes, gex_Flags_t) {
  check(nbytes <= kPeerCompletionBytesMax, "more than GEX_VIS_MAX_PEERCOMPLETION bytes (GX-138)",
        nbytes);
  arm_peer_completion({handler, source_addr, nbytes});
}

}  // extern "C"

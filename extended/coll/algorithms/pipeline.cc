#include "extended/coll/algorithms/pipeline.h"

#include <algorithm>
#include <cstring>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "extended/coll/algorithms/phase.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

constexpr uint32_t kPiecesAtOnce = 2;  // where others may wait for the first ones
constexpr uint32_t kUpSend = 0;        // names of streams: this one, then those downwards

void copy_piece(const Pipeline& p, void* to, const void* from, uint32_t piece) noexcept {
  auto* dst = static_cast<std::byte*>(to) + p.pieces.at(piece);
  if (dst != from) std::memcpy(dst, from, p.pieces.bytes_of(piece));
}

const std::byte* piece_of(const Pipeline& p, const void* data, uint32_t piece) noexcept {
  return static_cast<const std::byte*>(data) + p.pieces.at(piece);
}

Pipeline& open_pipeline(Collective& c, Pieces pieces, bool is_reduction) noexcept {
  dcheck(pieces.bytes != 0, "a pipeline of nothing", c.number);
  dcheck(pieces.piece_bytes != 0, "pieces of no bytes", c.number);
  dcheck(pieces.piece_bytes <= kPieceBytes, "pieces larger than their places", pieces.piece_bytes);
  if (c.workspace->pipeline == nullptr) c.workspace->pipeline.reset(new Pipeline);
  Pipeline& p = *c.workspace->pipeline;
  p.pieces = pieces;
  p.is_reduction = is_reduction;
  p.has_result = p.has_up_out = p.has_down_in = false;
  p.children = p.heirs = p.reduced = p.in_place = 0;
  for (InFlight* one : {&p.up_in_flight, &p.down_in_flight}) {
    one->started = 0;
    one->done.store(0, std::memory_order_relaxed);
  }
  return p;
}

/// The root of a broadcast has all of it before it is copied.
bool is_whole(const Pipeline& p) noexcept { return !p.is_reduction && !p.has_down_in; }
const void* source_of_heirs(const Collective& c, const Pipeline& p) noexcept {
  return is_whole(p) ? c.src : c.dst;
}

/// From here on messages for it may come.
void offer_all(Collective& c, Pipeline& p) noexcept {
  if constexpr (kChecks) {
    dcheck(c.running_streams.load(std::memory_order_relaxed) == nullptr,
           "the streams of an operation are offered twice", c.number);
  }
  // release pairs with the acquire of handlers
  c.running_streams.store(&p, std::memory_order_release);
  if (p.has_up_out) offer_stream(c, p.up_out, p.pieces, kUpSend, nullptr);
  for (uint32_t i = 0; i < p.heirs; ++i) {
    offer_stream(c, p.down_out[i], p.pieces, (kUpSend + 1 + i) | (is_whole(p) ? kAllThere : 0),
                 source_of_heirs(c, p));
  }
  c.phase = kFlow;
}

void close_pipeline(Collective& c, Pipeline& p) noexcept {
  if constexpr (kChecks) dcheck(p.is_over(), "streams close that run on", c.number);
  c.running_streams.store(nullptr, std::memory_order_relaxed);
  give_back_part(*c.member, p.piece_memory);
}

/// Whether all children have sent the next piece.
bool has_operands(const Pipeline& p) noexcept {
  for (uint32_t i = 0; i < p.children; ++i) {
    if (!p.up_in[i].has_next(p.pieces)) return false;
  }
  return true;
}

/// The next piece of what this member has, then of what is below, in the order of ranks. Each
/// result takes the latter's place, the last of all `dst`, if there is one.
const std::byte* combine_next(const Collective& c, Pipeline& p, std::byte* dst) noexcept {
  const Reduction& r = c.reduction;
  const std::byte* so_far = piece_of(p, c.src, p.reduced);
  dcheck(p.pieces.bytes_of(p.reduced) % r.element_bytes == 0, "a piece that ends in an element",
         p.reduced, r.element_bytes);
  const size_t elements = p.pieces.bytes_of(p.reduced) / r.element_bytes;
  for (uint32_t i = 0; i < p.children; ++i) {
    std::byte* next = p.up_in[i].place(p.pieces, p.reduced);
    std::byte* out = dst != nullptr && i + 1 == p.children ? dst : next;
    r.combine(so_far, next, out, elements);
    so_far = out;
  }
  return so_far;
}

// Each does a step, if it can.

bool reduce_next(Collective& c, Pipeline& p) noexcept {
  if (!p.is_reduction || p.reduced == p.pieces.count()) return false;
  if ((p.has_up_out && !p.up_out.may_send()) || !has_operands(p)) return false;
  dcheck(p.has_up_out || p.in_place == p.reduced, "a result out of order", p.in_place, p.reduced);
  if (p.has_up_out) {
    send_piece(c, p.up_out, p.pieces, combine_next(c, p, nullptr), p.up_in_flight);
  } else {
    std::byte* dst = static_cast<std::byte*>(c.dst) + p.pieces.at(p.in_place);
    copy_piece(p, c.dst, combine_next(c, p, dst), p.in_place++);  // of one member alone, that is
  }
  for (uint32_t i = 0; i < p.children; ++i) ++p.up_in[i].taken;
  ++p.reduced;
  return true;
}

/// Counts the next piece from above, which is in place.
bool place_next(Pipeline& p) noexcept {
  if (!p.has_down_in || !p.down_in.has_next(p.pieces)) return false;
  ++p.down_in.taken;
  ++p.in_place;
  dcheck(p.in_place == p.down_in.taken, "a piece in place that did not come", p.in_place,
         p.down_in.taken);
  dcheck(p.in_place <= p.pieces.count(), "a piece after the last one", p.in_place);
  return true;
}

/// Copies pieces of the source to `dst` at the root of a broadcast, for itself and for members that
/// fetch nothing. Few pieces at a time: the members answer meanwhile.
void copy_some(Collective& c, Pipeline& p) noexcept {
  const uint32_t end = std::min(p.pieces.count(), p.in_place + kPiecesAtOnce);
  for (; p.in_place < end; ++p.in_place) {
    copy_piece(p, c.dst, piece_of(p, c.src, p.in_place), p.in_place);
  }
  if (p.in_place < p.pieces.count()) defer(*c.member);
}

/// True: there was a piece to send or to announce.
bool pass_to(Collective& c, Pipeline& p, StreamOut& out) noexcept {
  if (!out.may_send()) return false;
  dcheck(out.sent <= p.in_place, "a piece was passed on before it came", out.sent, p.in_place);
  if (!out.grants.is_for_fetching()) {
    if (out.sent == p.in_place) return false;
    send_piece(c, out, p.pieces, piece_of(p, c.dst, out.sent), p.down_in_flight);
  } else if (is_whole(p)) {
    out.sent = p.pieces.count();  // as the offer said
  } else {
    if (out.sent == p.in_place) return false;
    tell_there(c, out, p.in_place - out.sent);
  }
  return true;
}

bool pass_on(Collective& c, Pipeline& p) noexcept {
  bool has_sent = false;
  for (uint32_t i = 0; i < p.heirs; ++i) has_sent |= pass_to(c, p, p.down_out[i]);
  return has_sent;
}

/// All pieces at once if no member below waits for the first.
uint32_t fetched_at_once(const Pipeline& p) noexcept {
  return p.heirs == 0 ? p.pieces.count() : kPiecesAtOnce;
}

void grant_all(Collective& c, Pipeline& p) noexcept {
  if (p.has_down_in) grant_pieces(c, p.down_in, p.pieces);
  if (!p.up_in_flight.is_over()) return;  // whose sources are the places
  for (uint32_t i = 0; i < p.children; ++i) grant_pieces(c, p.up_in[i], p.pieces);
}

bool flow(Collective& c) noexcept {
  dcheck(c.workspace->pipeline != nullptr, "pieces that no stream carries", c.number);
  Pipeline& p = *c.workspace->pipeline;
  if (is_whole(p)) copy_some(c, p);
  bool moves = true;
  while (moves) {
    grant_all(c, p);
    const bool reduced = reduce_next(c, p);
    const bool fetched = p.has_down_in && fetch_pieces(c, p.down_in, p.pieces, fetched_at_once(p));
    const bool placed = place_next(p);
    const bool passed = pass_on(c, p);
    moves = reduced || fetched || placed || passed;
  }
  if (!p.is_over()) {
    // No event tells that a driver is through with a source.
    if (!p.up_in_flight.is_over() || !p.down_in_flight.is_over()) defer(*c.member);
    return false;
  }
  close_pipeline(c, p);
  return true;
}

Neighbours neighbours_below(const Collective& c, Rank top, const Pieces& pieces) noexcept {
  const Rank size = c.member->size;
  return {Tree(size, top, c.member->rank), size,
          Neighbours::is_chain_shorter(size, pieces.count())};
}

void take_children(Collective& c, Pipeline& p, const Neighbours& neighbours) noexcept {
  p.add_children(neighbours, take_part(*c.member, p.piece_memory, up_bytes(neighbours.branches())));
}

}  // namespace

void PipelineDelete::operator()(Pipeline* pipeline) const noexcept { delete pipeline; }

StreamOut* Pipeline::out(uint32_t send) noexcept {
  if (send == kUpSend) return has_up_out ? &up_out : nullptr;
  return send - 1 < heirs ? &down_out[send - 1] : nullptr;
}

StreamIn* Pipeline::in(uint32_t letter) noexcept {
  if (has_down_in && letter == down_in.letter) return &down_in;
  return letter < children ? &up_in[letter] : nullptr;
}

void Pipeline::add_children(const Neighbours& neighbours, std::byte* places) noexcept {
  children = neighbours.branches();
  dcheck(children <= kRoundsMax, "more children than there are streams for", children);
  dcheck(children == 0 || places != nullptr, "children without places for their pieces", children);
  const uint32_t window = up_window(children);
  for (uint32_t i = 0; i < children; ++i) {
    const auto base = reinterpret_cast<uint64_t>(places + i * window * kPieceBytes);
    up_in[i].reset(neighbours.child(i), i, {base, window}, window);
  }
}

void Pipeline::send_up(Rank to, uint32_t letter) noexcept {
  has_up_out = true;
  up_out.reset(to, letter);
}

void Pipeline::receive_down(Rank from, uint32_t letter, void* to) noexcept {
  has_down_in = true;
  down_in.reset(from, letter, {reinterpret_cast<uint64_t>(to), 0}, kWindowPieces);
}

/// The child with the largest subtree comes first.
void Pipeline::add_heirs(const Neighbours& neighbours, uint32_t letter) noexcept {
  dcheck(heirs == 0, "the members below are added twice", heirs);
  dcheck(neighbours.branches() <= kRoundsMax, "more members below than there are streams for",
         neighbours.branches());
  for (uint32_t branch = neighbours.branches(); branch-- > 0;) {
    down_out[heirs++].reset(neighbours.child(branch), letter);
  }
}

bool Pipeline::is_over() const noexcept {
  const uint32_t all = pieces.count();
  for (uint32_t i = 0; i < heirs; ++i) {
    if (!down_out[i].is_over(pieces)) return false;
  }
  return (!is_reduction || reduced == all) && (!has_result || in_place == all) &&
         up_in_flight.is_over() && down_in_flight.is_over();
}

bool broadcast_in_pieces(Collective& c) noexcept {
  if (c.phase == kBegin) {
    Pipeline& p = open_pipeline(c, Pieces::of(1, c.bytes), false);
    const Neighbours neighbours = neighbours_below(c, c.root, p.pieces);
    p.has_result = true;
    if (!neighbours.is_root()) p.receive_down(neighbours.parent(), 0, c.dst);
    p.add_heirs(neighbours, 0);
    offer_all(c, p);
  }
  return flow(c);
}

bool reduce_to_one_in_pieces(Collective& c) noexcept {
  if (c.phase == kBegin) {
    Pipeline& p = open_pipeline(c, Pieces::of(c.reduction.element_bytes, c.reduction.count), true);
    // An operation that does not commute needs the order of ranks: rank 0 is the top of the tree,
    // and sends its result to the root.
    const Rank top = c.reduction.is_ordered ? 0 : c.root;
    const uint32_t last_letter = c.member->rounds;
    const Neighbours neighbours = neighbours_below(c, top, p.pieces);
    take_children(c, p, neighbours);
    if (!neighbours.is_root()) {
      p.send_up(neighbours.parent(), neighbours.branch());
    } else if (c.root != top) {
      p.send_up(c.root, last_letter);
    }
    p.has_result = c.member->rank == c.root;
    if (p.has_result && c.root != top) p.receive_down(top, last_letter, c.dst);
    offer_all(c, p);
  }
  return flow(c);
}

bool reduce_to_all_in_pieces(Collective& c) noexcept {
  if (c.phase == kBegin) {
    Pipeline& p = open_pipeline(c, Pieces::of(c.reduction.element_bytes, c.reduction.count), true);
    const uint32_t down_letter = c.member->rounds;
    const Neighbours neighbours = neighbours_below(c, 0, p.pieces);
    take_children(c, p, neighbours);
    p.has_result = true;
    if (!neighbours.is_root()) {
      p.send_up(neighbours.parent(), neighbours.branch());
      p.receive_down(neighbours.parent(), down_letter, c.dst);
    }
    p.add_heirs(neighbours, down_letter);
    offer_all(c, p);
  }
  return flow(c);
}

}  // namespace pinwire

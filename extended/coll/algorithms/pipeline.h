// Large broadcasts and reductions, in pieces: streams (stream.h) along a chain of the members, or
// down a binomial tree where they are too many for their pieces. A member combines a piece with
// those from below, or passes it on, as soon as it has it; the next ones arrive meanwhile.
//
// A reduction to all is one to the first member, whose result goes back the same way at the same
// time: elements are combined in the order of ranks, always in the same groups, and are the same on
// all members, whatever the operation. A user's function is called for some elements at a time
// (GX-146, GX-147).
#pragma once

#include "extended/coll/algorithms/scratch_parts.h"
#include "extended/coll/algorithms/tree.h"
#include "extended/coll/messages/stream.h"

namespace pinwire {

/// The streams of one operation on one member: upwards they carry operands of a reduction,
/// downwards finished pieces.
struct Pipeline final : StreamSet {
  bool is_reduction = false;
  bool has_result = false;  ///< here, too: in `dst`
  bool has_up_out = false;
  bool has_down_in = false;
  uint32_t children = 0;  ///< that send upwards
  uint32_t heirs = 0;     ///< that are sent to downwards
  StreamIn up_in[kRoundsMax];
  StreamOut up_out;
  StreamIn down_in;
  StreamOut down_out[kRoundsMax];

  uint32_t reduced = 0;   ///< pieces combined with those from below
  uint32_t in_place = 0;  ///< pieces of the result that are in `dst`
  InFlight up_in_flight, down_in_flight;

  PieceMemory piece_memory;  ///< of pieces from below

  StreamOut* out(uint32_t send) noexcept override;
  StreamIn* in(uint32_t letter) noexcept override;

  // These add the streams of the members that take part.
  void add_children(const Neighbours& neighbours, std::byte* places) noexcept;
  void send_up(Rank to, uint32_t letter) noexcept;
  void receive_down(Rank from, uint32_t letter, void* to) noexcept;
  void add_heirs(const Neighbours& neighbours, uint32_t letter) noexcept;
  bool is_over() const noexcept;
};

inline bool goes_in_pieces(size_t bytes) noexcept { return bytes > kPieceBytes; }
/// No element is larger than a piece: those take the way of small reductions.
inline bool goes_in_pieces(const Reduction& r) noexcept {
  return r.count * r.element_bytes > kPieceBytes && r.element_bytes <= kPieceBytes;
}

// Scripts (Collective).
bool broadcast_in_pieces(Collective& c) noexcept;
bool reduce_to_one_in_pieces(Collective& c) noexcept;
bool reduce_to_all_in_pieces(Collective& c) noexcept;

}  // namespace pinwire

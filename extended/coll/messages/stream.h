// Large data between two members, in pieces, each of which the receiver may use, and pass on, while
// later ones arrive. The sender offers the stream as any data (mail.h); the receiver answers with
// the address that the pieces go to, and grants as many as it has places for, again and again. Thus
// no member holds memory for all pieces, and no sender waits for a receiver that does not look.
//
// The sender writes a piece to its place by a Long if the driver can, otherwise it sends the piece
// as Mediums. If the data is in a segment that the receiver may read, the receiver fetches the
// pieces by gets: its answer says so, and the sender tells it how many pieces are ready. Client
// context, in an operation's script.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "driver/shm/host_memory.h"
#include "extended/coll/messages/stream_flags.h"
#include "extended/coll/operation/collective.h"
#include "extended/rma/ops.h"

namespace pinwire {

/// Data above this size goes in pieces.
inline constexpr size_t kPieceBytes = 32768;

/// Pieces of a whole number of elements, all of the same size except the last.
struct Pieces {
  size_t bytes = 0;        ///< of all
  size_t piece_bytes = 1;  ///< of one, <= kPieceBytes

  static constexpr Pieces of(size_t element_bytes, size_t elements) noexcept {
    return {element_bytes * elements, kPieceBytes / element_bytes * element_bytes};
  }
  constexpr uint32_t count() const noexcept {
    return static_cast<uint32_t>((bytes + piece_bytes - 1) / piece_bytes);
  }
  constexpr size_t at(uint32_t piece) const noexcept { return piece * piece_bytes; }
  constexpr size_t bytes_of(uint32_t piece) const noexcept {
    return std::min(piece_bytes, bytes - at(piece));
  }
};

/// Where a receiver has its pieces: all in a row, or in turns in a few places.
struct PiecePlaces {
  uint64_t base = 0;
  uint32_t turns = 0;  ///< places of kPieceBytes each; 0: in a row

  constexpr uint64_t of(const Pieces& pieces, uint32_t piece) const noexcept {
    return base + (turns != 0 ? piece % turns * kPieceBytes : pieces.at(piece));
  }
};

/// Combined with the sender's name for a stream: all pieces are there, for a receiver that can
/// fetch them.
inline constexpr uint32_t kAllThere = 1u << 31;

/// To one member.
struct StreamOut {
  Rank to = 0;  ///< the member
  uint32_t letter = 0;
  uint32_t sent = 0;
  BasicGrants<shm::HostMemory> grants;

  void reset(Rank member, uint32_t its_letter) noexcept;
  /// The next piece, if there is one in all.
  bool may_send() const noexcept { return grants.may_send(sent); }
  bool is_over(const Pieces& pieces) const noexcept { return grants.is_over(sent, pieces.count()); }
};

/// From one member.
struct StreamIn {
  Rank from = 0;  ///< the member
  uint32_t letter = 0;
  PiecePlaces places;
  uint32_t window = 0;  ///< places that may be granted at once
  uint32_t taken = 0;
  uint32_t sender_seat = 0;
  uint32_t sender_send = 0;
  BasicArrivals<shm::HostMemory> arrivals;

  // State of a stream whose pieces the receiver fetches.
  bool fetches = false;
  uint64_t source = 0;
  uint32_t fetched = 0;   ///< pieces in place
  uint32_t fetching = 0;  ///< and with those that are on their way
  pinwire_op get{};

  void reset(Rank member, uint32_t its_letter, PiecePlaces its_places,
             uint32_t its_window) noexcept;
  std::byte* place(const Pieces& pieces, uint32_t piece) const noexcept {
    return reinterpret_cast<std::byte*>(places.of(pieces, piece));
  }
  /// Piece `taken` is in place.
  bool has_next(const Pieces& pieces) const noexcept {
    if (fetches) return taken < fetched;
    return taken < arrivals.granted() && arrivals.is_filled(taken, pieces.bytes_of(taken));
  }
};

/// The streams of one operation on one member, which carry the same pieces.
struct StreamSet {
  Pieces pieces;

  // As messages name them; nullptr: no such. Any context.
  virtual StreamOut* out(uint32_t send) noexcept = 0;
  virtual StreamIn* in(uint32_t letter) noexcept = 0;

 protected:
  ~StreamSet() = default;
};

/// Sources that a driver still reads.
struct InFlight {
  uint32_t started = 0;
  DoneCount done{0};

  bool is_over() const noexcept {
    const uint32_t now = done.load(std::memory_order_acquire);
    dcheck(now <= started, "more sources are free than were in use", now, started);
    return now == started;
  }
};

/// `send` is the sender's name for the stream, in its StreamSet; perhaps with kAllThere. `source`:
/// of all pieces, in a row, as long as the stream lasts; nullptr: they lie elsewhere.
void offer_stream(Collective& c, const StreamOut& out, const Pieces& pieces, uint32_t send,
                  const void* source) noexcept;
/// Piece `out.sent`, which lies at `from` and stays there until `in_flight` is over.
void send_piece(Collective& c, StreamOut& out, const Pieces& pieces, const std::byte* from,
                InFlight& in_flight) noexcept;
/// The same to a member that fetches them: `more` pieces beyond `out.sent` are there.
void tell_there(Collective& c, StreamOut& out, uint32_t more) noexcept;
/// Answers the offer once it is there, and grants what there is room for. Often.
void grant_pieces(Collective& c, StreamIn& in, const Pieces& pieces) noexcept;

/// Up to `most` pieces at a time. True: more are in place.
bool fetch_pieces(Collective& c, StreamIn& in, const Pieces& pieces, uint32_t most) noexcept;

void register_streams() noexcept;

}  // namespace pinwire

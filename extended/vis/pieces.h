// The contiguous pieces of one side of a vector or indexed transfer, in order: a byte stream that
// the other side's pieces cut elsewhere (VIS-007).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire::vis {

struct Piece {
  std::byte* at = nullptr;
  size_t bytes = 0;  ///< 0: there is no more
};

/// The rest of a list. Entries of no bytes count.
template <typename Entry>
class ListRest {
 public:
  ListRest(const Entry* entries, size_t count) noexcept : next_(entries), end_(entries + count) {}
  size_t count() const noexcept { return static_cast<size_t>(end_ - next_); }
  void skip(size_t skipped) noexcept {
    dcheck(skipped <= count(), "more entries are skipped than are left", skipped);
    next_ += skipped;
  }

 protected:
  const Entry* next_;
  const Entry* end_;
};

/// Regions of any length, gasnet_memvec_t or gex_Memvec_t (VIS-013, VIS-014).
template <typename Region, void* Region::*kAddress, size_t Region::*kBytes>
class VectorPieces : public ListRest<Region> {
 public:
  using ListRest<Region>::ListRest;
  Piece operator[](size_t i) const noexcept {
    const Region& region = next_[i];
    return {static_cast<std::byte*>(region.*kAddress), region.*kBytes};
  }
  Piece next() noexcept {
    while (next_ != end_ && next_->*kBytes == 0) ++next_;
    if (next_ == end_) return {};
    const Piece piece = (*this)[0];
    ++next_;
    return piece;
  }

 private:
  using ListRest<Region>::next_;
  using ListRest<Region>::end_;
};

/// Regions of one length (VIS-019, VIS-020).
class IndexedPieces : public ListRest<void*> {
 public:
  IndexedPieces(void* const* addresses, size_t count, size_t bytes) noexcept
      : ListRest(addresses, bytes != 0 ? count : 0), bytes_(bytes) {}
  Piece operator[](size_t i) const noexcept { return {static_cast<std::byte*>(next_[i]), bytes_}; }
  Piece next() noexcept {
    if (next_ == end_) return {};
    return {static_cast<std::byte*>(*next_++), bytes_};
  }

 private:
  size_t bytes_;
};

/// Pieces that lie one after the other become one.
template <typename Pieces>
class Joined {
 public:
  explicit Joined(Pieces pieces) noexcept : pieces_(pieces), ahead_(pieces_.next()) {}
  Piece next() noexcept {
    Piece piece = ahead_;
    if (piece.bytes == 0) return piece;
    for (;;) {
      ahead_ = pieces_.next();
      if (ahead_.bytes == 0 || ahead_.at != piece.at + piece.bytes) return piece;
      piece.bytes += ahead_.bytes;
    }
  }

 private:
  Pieces pieces_;
  Piece ahead_;
};

/// Calls move(here, there, bytes) for every stretch that is contiguous on both sides. Returns how
/// many bytes the one side has more than the other: 0 unless the caller made a mistake (VIS-008).
template <typename Here, typename There, typename Move>
size_t for_each_pair(Here here_pieces, There there_pieces, Move&& move) noexcept {
  Joined<Here> heres(here_pieces);
  Joined<There> theres(there_pieces);
  Piece here = heres.next(), there = theres.next();
  while (here.bytes != 0 && there.bytes != 0) {
    const size_t bytes = here.bytes < there.bytes ? here.bytes : there.bytes;
    dcheck(bytes != 0, "a stretch of no bytes", here.at, there.at);
    move(here.at, there.at, bytes);
    here = {here.at + bytes, here.bytes - bytes};
    there = {there.at + bytes, there.bytes - bytes};
    if (here.bytes == 0) here = heres.next();
    if (there.bytes == 0) there = theres.next();
  }
  size_t left = 0;
  for (; here.bytes != 0; here = heres.next()) left += here.bytes;
  for (; there.bytes != 0; there = theres.next()) left += there.bytes;
  return left;
}

}  // namespace pinwire::vis

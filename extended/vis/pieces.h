// The contiguous pieces of one side of a vector, indexed or strided transfer, in order: a byte
// stream that the other side's pieces cut elsewhere (VIS-007).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire::vis {

struct Piece {
  std::byte* at = nullptr;
  size_t bytes = 0;  ///< 0: there is no more
};

/// Regions of any length, gasnet_memvec_t or gex_Memvec_t (VIS-013, VIS-014).
template <typename Region, void* Region::*kAddress, size_t Region::*kBytes>
class VectorPieces {
 public:
  VectorPieces(const Region* regions, size_t count) noexcept
      : next_(regions), end_(regions + count) {}
  Piece next() noexcept {
    while (next_ != end_ && next_->*kBytes == 0) ++next_;
    if (next_ == end_) return {};
    const Region& region = *next_++;
    return {static_cast<std::byte*>(region.*kAddress), region.*kBytes};
  }

 private:
  const Region* next_;
  const Region* end_;
};

/// Regions of one length (VIS-019, VIS-020).
class IndexedPieces {
 public:
  IndexedPieces(void* const* addresses, size_t count, size_t bytes) noexcept
      : next_(addresses), end_(bytes != 0 ? addresses + count : addresses), bytes_(bytes) {}
  Piece next() noexcept {
    if (next_ == end_) return {};
    return {static_cast<std::byte*>(*next_++), bytes_};
  }

 private:
  void* const* next_;
  void* const* end_;
  size_t bytes_;
};

/// Elements of a box of any number of dimensions, the first running fastest (GX-136, GX-137).
/// Strides may be negative, and in any order. `Stride`: ptrdiff_t, or GASNet-1's size_t.
template <typename Stride>
class StridedPieces {
 public:
  /// `place`: room for one number per level. No count is 0.
  StridedPieces(void* base, const Stride* strides, size_t element_bytes, const size_t* count,
                size_t levels, size_t* place) noexcept
      : at_(static_cast<std::byte*>(base)),
        strides_(strides),
        count_(count),
        levels_(levels),
        element_bytes_(element_bytes),
        place_(place) {
    for (size_t level = 0; level < levels; ++level) place_[level] = 0;
  }
  Piece next() noexcept {
    if (is_over_) return {};
    const Piece piece{at_, element_bytes_};
    step();
    return piece;
  }

 private:
  void step() noexcept {
    for (size_t level = 0; level < levels_; ++level) {
      const auto stride = static_cast<ptrdiff_t>(strides_[level]);
      dcheck(place_[level] < count_[level], "an element behind the last one", level);
      if (++place_[level] < count_[level]) {
        at_ += stride;
        return;
      }
      at_ -= stride * static_cast<ptrdiff_t>(count_[level] - 1);
      place_[level] = 0;
    }
    is_over_ = true;
  }

  std::byte* at_;
  const Stride* strides_;
  const size_t* count_;
  size_t levels_;
  size_t element_bytes_;
  size_t* place_;
  bool is_over_ = false;
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

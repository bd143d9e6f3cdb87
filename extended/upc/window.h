// A few pieces of a copy, sorted by the pair of threads that they run between: one transfer of many
// pieces for each pair (UPC-021, UPC-024).
//
// Lists of any length go through a window on the stack, so that no call allocates. A transfer of
// gasnet_vis.h may keep the lists until it is complete, but Pinwire has read them when it returns.
// All transfers of a call belong to one handle (pinwire_begin_group()), and run beside each other.
#pragma once

#include "extended/upc/streams.h"

namespace pinwire::upc {

/// The end that is private memory, and so the caller's whatever threads are named.
enum class Way : uint8_t { kPut, kGet, kCopy };

class Window {
 public:
  explicit Window(Way way) noexcept : way_(way) {}
  Window(const Window&) = delete;

  /// One stretch that is contiguous at both ends.
  void add(const Region& dst, const Region& src, size_t bytes) noexcept;
  /// Starts what is collected as implicit operations.
  void flush() noexcept;

 private:
  static constexpr size_t kPieces = 128;
  struct Piece {
    uint32_t dst_thread, src_thread;
    char* dst;
    char* src;
    size_t bytes;
    bool goes_with(const Piece& other) const noexcept {
      return dst_thread == other.dst_thread && src_thread == other.src_thread;
    }
  };
  struct Lists;  ///< of a transfer of gasnet_vis.h

  bool extends_last(const Piece& piece) const noexcept;
  void sort() noexcept;
  void start(const Piece* pieces, size_t count) noexcept;
  static void start_put(const Piece* pieces, size_t count) noexcept;
  static void start_get(const Piece* pieces, size_t count) noexcept;
  static void start_copy(const Piece* pieces, size_t count) noexcept;

  Way way_;
  size_t count_ = 0;
  Piece pieces_[kPieces];
};

/// The totals of a call's two ends differ: the job ends with a sentence (UPC-022, UPC-030).
[[noreturn, gnu::cold]] void refuse_totals(const char* call, size_t dst_left,
                                           size_t src_left) noexcept;

template <typename Stream>
size_t bytes_left(Region region, Stream& stream) noexcept {
  size_t bytes = 0;
  for (; region.bytes != 0; region = stream.next()) bytes += region.bytes;
  return bytes;
}

/// Cuts both streams at the boundaries of both, and starts all pieces.
template <typename Dst, typename Src>
bupc_handle_t start_streams(const char* call, Way way, Dst dsts, Src srcs) noexcept {
  Window window(way);
  const gasnet_handle_t outer = pinwire_begin_group();
  Region dst = dsts.next(), src = srcs.next();
  while (dst.bytes != 0 && src.bytes != 0) {
    const size_t bytes = dst.bytes < src.bytes ? dst.bytes : src.bytes;
    window.add(dst, src, bytes);
    dst = {dst.thread, dst.at + bytes, dst.bytes - bytes};
    src = {src.thread, src.at + bytes, src.bytes - bytes};
    if (dst.bytes == 0) dst = dsts.next();
    if (src.bytes == 0) src = srcs.next();
  }
  if (dst.bytes != 0 || src.bytes != 0)
    refuse_totals(call, bytes_left(dst, dsts), bytes_left(src, srcs));
  window.flush();
  return bupc_of(pinwire_end_group(outer));
}

}  // namespace pinwire::upc

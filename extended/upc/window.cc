#include "extended/upc/window.h"

#include <algorithm>

#include "core/api/gasnet_tools.h"

namespace pinwire::upc {

bool Window::extends_last(const Piece& piece) const noexcept {
  if (count_ == 0) return false;
  const Piece& last = pieces_[count_ - 1];
  return last.goes_with(piece) && last.dst + last.bytes == piece.dst &&
         last.src + last.bytes == piece.src;
}

void Window::add(const Region& dst, const Region& src, size_t bytes) noexcept {
  const Piece piece{dst.thread, src.thread, dst.at, src.at, bytes};
  if (extends_last(piece)) {
    pieces_[count_ - 1].bytes += bytes;
    return;
  }
  if (count_ == kPieces) flush();
  pieces_[count_++] = piece;
}

void Window::sort() noexcept {
  std::sort(pieces_, pieces_ + count_, [](const Piece& a, const Piece& b) {
    return a.dst_thread != b.dst_thread ? a.dst_thread < b.dst_thread : a.src_thread < b.src_thread;
  });
}

void Window::flush() noexcept {
  sort();
  for (size_t first = 0; first < count_;) {
    size_t end = first + 1;
    while (end < count_ && pieces_[end].goes_with(pieces_[first])) ++end;
    start(pieces_ + first, end - first);
    first = end;
  }
  count_ = 0;
}

void Window::start(const Piece* pieces, size_t count) noexcept {
  if (way_ == Way::kPut || (way_ == Way::kCopy && pieces->src_thread == bupc_mythread())) {
    start_put(pieces, count);
  } else if (way_ == Way::kGet || pieces->dst_thread == bupc_mythread()) {
    start_get(pieces, count);
  } else {
    start_copy(pieces, count);
  }
}

struct Window::Lists {
  Lists(const Piece* pieces, size_t count) noexcept {
    for (size_t i = 0; i < count; ++i) {
      dsts[i] = {pieces[i].dst, pieces[i].bytes};
      srcs[i] = {pieces[i].src, pieces[i].bytes};
    }
  }
  gasnet_memvec_t dsts[kPieces], srcs[kPieces];
};

void Window::start_put(const Piece* pieces, size_t count) noexcept {
  const Lists lists(pieces, count);
  gasnet_putv_nbi_bulk(pieces->dst_thread, count, lists.dsts, count, lists.srcs);
}

void Window::start_get(const Piece* pieces, size_t count) noexcept {
  const Lists lists(pieces, count);
  gasnet_getv_nbi_bulk(count, lists.dsts, pieces->src_thread, count, lists.srcs);
}

void Window::start_copy(const Piece* pieces, size_t count) noexcept {
  pinwire_copy_t copies[kPieces];
  for (size_t i = 0; i < count; ++i) copies[i] = {pieces[i].src, pieces[i].dst, pieces[i].bytes};
  pinwire_copy_nbi(pieces->dst_thread, pieces->src_thread, count, copies);
}

void refuse_totals(const char* call, size_t dst_left, size_t src_left) noexcept {
  gasnett_fatalerror_nopos(
      "%s: the %s have %zu bytes more than the %s; both ends have as many (UPC-022, UPC-030)", call,
      dst_left != 0 ? "destinations" : "sources", dst_left != 0 ? dst_left : src_left,
      dst_left != 0 ? "sources" : "destinations");
}

}  // namespace pinwire::upc

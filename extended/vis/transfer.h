// Transfers of many pieces: those that are mapped here are copied at once, by loops that know the
// size of the pieces; the others are puts and gets, all counted on one Op, of what is contiguous on
// both sides. Small puts are packed where that pays.
#pragma once

#include <atomic>

#include "core/api_types.h"
#include "core/engine/target.h"
#include "extended/rma/transfer.h"
#include "extended/vis/box.h"
#include "extended/vis/copy.h"
#include "extended/vis/packed_puts.h"
#include "extended/vis/pieces.h"
#include "extended/vis/window.h"

namespace pinwire::vis {

/// One piece of a get. Client context; as start_get().
void get_piece(Target from, std::byte* dest, std::byte* source, size_t bytes,
               pinwire_op& op) noexcept;

/// The job ends with a sentence if the two sides are not of the same size (VIS-008).
void check_sizes(const char* call, size_t bytes_left) noexcept;

/// All elements of a box at `to`, from or to those in this process. Client context; waits for room.
void start_put_box(Target to, std::byte* dest, const std::byte* source, const Box& box,
                   pinwire_op& op) noexcept;
void start_get_box(Target from, std::byte* dest, std::byte* source, const Box& box,
                   pinwire_op& op) noexcept;

/// Copies the first pieces that both sides cut alike, as long as they are mapped; both sides then
/// begin with what is left. copy(local, remote, bytes), with our address of the remote piece.
template <typename Local, typename Remote, typename Copy>
[[gnu::always_inline]] inline void copy_alike(const Window& window, Local& local, Remote& remote,
                                              Copy&& copy) noexcept {
  const size_t count = local.count() < remote.count() ? local.count() : remote.count();
  size_t i = 0;
  for (; i < count; ++i) {
    const Piece here = local[i], there = remote[i];
    if (here.bytes != there.bytes || !window.covers(there.at, there.bytes)) [[unlikely]] {
      if (here.bytes == 0 && there.bytes == 0) continue;  // nowhere (VIS-014)
      break;
    }
    copy(here.at, window.here(there.at), here.bytes);
  }
  local.skip(i);
  remote.skip(i);
}

/// Vectors and indexed lists (extended/vis/pieces.h). Direct copies keep program order against the
/// flags and messages that announce them (C1-221), as those of core/api/pinwire_rma.h do.
template <typename Local, typename Remote>
void start_put_of(const char* call, Target to, Local local, Remote remote,
                  pinwire_op& op) noexcept {
  std::atomic_thread_fence(std::memory_order_release);
  copy_alike(Window(to), local, remote, [](std::byte* here, std::byte* there, size_t bytes) {
    copy_piece(there, here, bytes);
  });
  std::atomic_thread_fence(std::memory_order_release);
  if (local.count() == 0 && remote.count() == 0) return;
  PackedPuts puts(to, op);
  check_sizes(call, for_each_pair(local, remote, [&](std::byte* here, std::byte* there, size_t n) {
                puts.put(here, there, n);
              }));
  puts.finish();
}
template <typename Local, typename Remote>
void start_get_of(const char* call, Target from, Local local, Remote remote,
                  pinwire_op& op) noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
  copy_alike(Window(from), local, remote, [](std::byte* here, std::byte* there, size_t bytes) {
    copy_piece(here, there, bytes);
  });
  std::atomic_thread_fence(std::memory_order_acquire);
  check_sizes(call, for_each_pair(local, remote, [&](std::byte* here, std::byte* there, size_t n) {
                get_piece(from, here, there, n, op);
              }));
}

}  // namespace pinwire::vis

#include "extended/vis/transfer.h"

#include "core/base/log.h"
#include "extended/vis/place.h"

namespace pinwire::vis {

void get_piece(Target from, std::byte* dest, std::byte* source, size_t bytes,
               pinwire_op& op) noexcept {
  if (const void* direct = place_of_piece("a piece of a get", from, source, dest, bytes)) {
    pinwire_get_direct(dest, direct, bytes);
  } else {
    start_get(from, source, dest, bytes, op);
  }
}

void start_put_box(Target to, std::byte* dest, const std::byte* source, const Box& box,
                   pinwire_op& op) noexcept {
  const Window window(to);
  const Span there = box.span_there();
  if (window.covers(dest + there.lowest, there.bytes())) {
    std::atomic_thread_fence(std::memory_order_release);
    copy_to_there(box, window.here(dest), source);
    std::atomic_thread_fence(std::memory_order_release);
    return;
  }
  PackedPuts puts(to, op);
  for_each_element(box, [&](ptrdiff_t from_source, ptrdiff_t from_dest) {
    puts.put(source + from_source, dest + from_dest, box.element_bytes());
  });
  puts.finish();
}

void start_get_box(Target from, std::byte* dest, std::byte* source, const Box& box,
                   pinwire_op& op) noexcept {
  const Window window(from);
  const Span there = box.span_there();
  if (window.covers(source + there.lowest, there.bytes())) {
    std::atomic_thread_fence(std::memory_order_acquire);
    copy_from_there(box, window.here(source), dest);
    std::atomic_thread_fence(std::memory_order_acquire);
    return;
  }
  for_each_element(box, [&](ptrdiff_t from_dest, ptrdiff_t from_source) {
    get_piece(from, dest + from_dest, source + from_source, box.element_bytes(), op);
  });
}

void check_sizes(const char* call, size_t bytes_left) noexcept {
  if (bytes_left == 0) return;
  fatal("%s: one side has %zu bytes more than the other; both sides hold as many (VIS-008)", call,
        bytes_left);
}

}  // namespace pinwire::vis

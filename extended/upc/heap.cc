// Shared arrays: memory at the same offset of every thread's segment, and pointers into it
// (UPC-042, UPC-043).
//
// Every process keeps the list of what is allocated for itself. The calls are collective with equal
// arguments, so all lists are equal, and no message is sent.
#include <cstdlib>

#include "core/api/gasnet_tools.h"
#include "core/base/bits.h"
#include "extended/upc/handle.h"

using namespace pinwire;
using namespace pinwire::upc;

namespace {

constexpr size_t kAlignment = 64;

/// Offsets are from the beginning of the segment; blocks are listed by them.
struct Block {
  size_t begin, end;
  Block* next;
};
struct Heap {
  gasnet_seginfo_t* segments = nullptr;  ///< of every thread; null until bupc_init()
  size_t begin = 0, end = 0;
  Block* blocks = nullptr;
};
constinit Heap heap;

/// malloc() where no handler interrupts it.
template <typename T>
T* allocate(size_t count) noexcept {
  gasnet_hold_interrupts();
  auto* memory = static_cast<T*>(std::calloc(count, sizeof(T)));
  gasnet_resume_interrupts();
  if (memory == nullptr)
    gasnett_fatalerror_nopos("no memory for the lists of bupc_all_alloc (%zu bytes)",
                             count * sizeof(T));
  return memory;
}
void release(void* memory) noexcept {
  gasnet_hold_interrupts();
  std::free(memory);
  gasnet_resume_interrupts();
}

/// Every thread has the range in its segment.
bool have_range(const gasnet_seginfo_t* segments, size_t offset, size_t bytes) noexcept {
  for (uint32_t thread = 0; thread < bupc_threads(); ++thread) {
    const gasnet_seginfo_t& segment = segments[thread];
    if (segment.addr == nullptr || offset > segment.size || bytes > segment.size - offset)
      return false;
  }
  return true;
}

char* base_of(uint32_t thread) noexcept { return static_cast<char*>(heap.segments[thread].addr); }

void want_init(const char* call) noexcept {
  if (heap.segments == nullptr)
    gasnett_fatalerror_nopos("%s before bupc_init; call that on all threads first (UPC-043)", call);
}

/// Puts a block of `bytes` into the first gap that has them; nullptr: there is none.
Block* take_gap(size_t bytes) noexcept {
  size_t begin = heap.begin;
  Block** link = &heap.blocks;
  while (*link != nullptr && (*link)->begin - begin < bytes) {
    begin = (*link)->end;
    link = &(*link)->next;
  }
  const size_t gap_end = *link != nullptr ? (*link)->begin : heap.end;
  if (gap_end - begin < bytes) return nullptr;
  auto* block = allocate<Block>(1);
  *block = {begin, begin + bytes, *link};
  *link = block;
  return block;
}

/// The quotient rounded down, also of negative numbers, and what is left.
struct Division {
  ptrdiff_t quotient, rest;
};
constexpr Division divide(ptrdiff_t number, ptrdiff_t by) noexcept {
  const ptrdiff_t rest = (number % by + by) % by;
  return {(number - rest) / by, rest};
}

}  // namespace

extern "C" {

int bupc_init(size_t offset, size_t bytes) {
  if (heap.segments != nullptr) return 1;
  const uint32_t threads = bupc_threads();
  auto* segments = allocate<gasnet_seginfo_t>(threads);
  if (gasnet_getSegmentInfo(segments, static_cast<int>(threads)) != GASNET_OK ||
      !have_range(segments, offset, bytes)) {
    release(segments);
    return 1;
  }
  heap = {segments, align_up(offset, kAlignment), offset + bytes, nullptr};
  if (heap.begin > heap.end) heap.begin = heap.end;
  return 0;
}

bupc_gptr_t bupc_all_alloc(size_t nblocks, size_t nbytes) {
  want_init("bupc_all_alloc");
  const size_t threads = bupc_threads(), rows = nblocks / threads + (nblocks % threads != 0);
  const size_t bytes_max = heap.end - heap.begin;
  if (rows == 0 || nbytes == 0 || nbytes > bytes_max / rows) return {0, 0, nullptr};
  const Block* block = take_gap(align_up(rows * nbytes, kAlignment));
  if (block == nullptr) return {0, 0, nullptr};
  return {0, 0, base_of(0) + block->begin};
}

void bupc_all_free(bupc_gptr_t first) {
  if (first.addr == nullptr) return;
  want_init("bupc_all_free");
  const auto begin = static_cast<size_t>(static_cast<char*>(first.addr) - base_of(first.thread));
  for (Block** link = &heap.blocks; *link != nullptr; link = &(*link)->next) {
    Block* block = *link;
    if (block->begin != begin) continue;
    *link = block->next;
    release(block);
    return;
  }
  gasnett_fatalerror_nopos("bupc_all_free of what bupc_all_alloc has not returned, or twice");
}

bupc_gptr_t bupc_ptr_add(bupc_gptr_t p, ptrdiff_t i, size_t block, size_t elemsize) {
  const auto bytes = static_cast<ptrdiff_t>(elemsize);
  if (block == 0) return {p.thread, 0, static_cast<char*>(p.addr) + i * bytes};
  want_init("bupc_ptr_add");
  if (block > UINT32_MAX) {
    gasnett_fatalerror_nopos("bupc_ptr_add: a block of %zu elements, of which a phase has 32 bits",
                             block);
  }
  const auto elements = static_cast<ptrdiff_t>(block);
  const auto row = elements * static_cast<ptrdiff_t>(bupc_threads());
  const Division at = divide(p.phase + p.thread * elements + i, row);
  const Division in_row = divide(at.rest, elements);
  const auto thread = static_cast<uint32_t>(in_row.quotient);
  const ptrdiff_t moved = at.quotient * elements + in_row.rest - static_cast<ptrdiff_t>(p.phase);
  const ptrdiff_t offset = static_cast<char*>(p.addr) - base_of(p.thread) + moved * bytes;
  return {thread, static_cast<uint32_t>(in_row.rest), base_of(thread) + offset};
}

}  // extern "C"

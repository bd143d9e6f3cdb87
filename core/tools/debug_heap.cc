// gasnett_debug_malloc and its kin: blocks of malloc's with a guard on both sides, in one list.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "core/base/no_signals.h"
#include "core/tools/api.h"

using namespace pinwire;

namespace {

constexpr uint64_t kLives = 0x70696e7769726521, kFreed = ~kLives;

/// Before a block's bytes. `guard` is the last word, next to what the client writes.
struct alignas(16) Head {
  Head* next;
  Head* before;
  const char* file;
  int line;
  size_t bytes;
  uint64_t guard;

  void* payload() noexcept { return this + 1; }
  char* end() noexcept { return static_cast<char*>(payload()) + bytes; }
};

struct Place {
  const char* call;
  const char* file;
  int line;
};

std::mutex heap_lock;
/// The client's handlers use the heap, too.
struct HeldHeap {
  const NoSignals no_signals;
  const std::lock_guard<std::mutex> held{heap_lock};
};
Head blocks{&blocks, &blocks, "", 0, 0, kLives};  ///< the ring's fixed point; holds no bytes

template <typename... Values>
[[noreturn]] void complain(const Place& place, const char* format, Values... values) noexcept {
  pinwire_fatal_at(place.call, place.file, place.line, format, values...);
}

void link_last(Head* head) noexcept {
  head->next = &blocks;
  head->before = blocks.before;
  head->before->next = blocks.before = head;
}
void unlink(Head* head) noexcept {
  head->before->next = head->next;
  head->next->before = head->before;
}

void check_block(const Place& place, Head* head) noexcept {
  if (head->guard == kFreed) complain(place, "%p was freed before", head->payload());
  if (head->guard != kLives) {
    complain(place, "%p is no block of gasnett_debug_malloc, or was written to before its begin",
             head->payload());
  }
  if (std::memcmp(head->end(), &kLives, sizeof kLives) != 0) {
    complain(place, "%p, %zu bytes of %s:%d, was written to behind its end", head->payload(),
             head->bytes, head->file, head->line);
  }
}

/// nullptr: as malloc, there is no memory.
void* allocate(const Place& place, size_t bytes) noexcept {
  constexpr size_t kOverhead = sizeof(Head) + sizeof kLives;
  if (bytes > PTRDIFF_MAX - kOverhead) return nullptr;
  auto* head = static_cast<Head*>(std::malloc(bytes + kOverhead));
  if (head == nullptr) return nullptr;
  head->file = place.file;
  head->line = place.line;
  head->bytes = bytes;
  head->guard = kLives;
  std::memcpy(head->end(), &kLives, sizeof kLives);
  const HeldHeap held;
  link_last(head);
  return head->payload();
}

Head* head_of(const void* block) noexcept {
  return static_cast<Head*>(const_cast<void*>(block)) - 1;
}

void release(const Place& place, void* block) noexcept {
  if (block == nullptr) return;
  Head* head = head_of(block);
  {
    const HeldHeap held;
    check_block(place, head);
    unlink(head);
    head->guard = kFreed;
  }
  std::free(head);
}

char* copy_of(const Place& place, const char* text, size_t bytes) noexcept {
  auto* copy = static_cast<char*>(allocate(place, bytes + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text, bytes);
  copy[bytes] = '\0';
  return copy;
}

}  // namespace

extern "C" {

void* pinwire_debug_malloc(size_t bytes, const char* file, int line) {
  return allocate({"gasnett_debug_malloc", file, line}, bytes);
}

void* pinwire_debug_calloc(size_t count, size_t bytes, const char* file, int line) {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  void* block = allocate({"gasnett_debug_calloc", file, line}, all);
  return block == nullptr ? nullptr : std::memset(block, 0, all);
}

void* pinwire_debug_realloc(void* block, size_t bytes, const char* file, int line) {
  const Place place{"gasnett_debug_realloc", file, line};
  if (block != nullptr) pinwire_debug_memcheck(block, file, line);
  void* moved = allocate(place, bytes);
  if (moved == nullptr || block == nullptr) return moved;
  const size_t before = head_of(block)->bytes;
  std::memcpy(moved, block, before < bytes ? before : bytes);
  release(place, block);
  return moved;
}

void pinwire_debug_free(void* block, const char* file, int line) {
  release({"gasnett_debug_free", file, line}, block);
}

char* pinwire_debug_strdup(const char* text, const char* file, int line) {
  return copy_of({"gasnett_debug_strdup", file, line}, text, std::strlen(text));
}

char* pinwire_debug_strndup(const char* text, size_t bytes, const char* file, int line) {
  return copy_of({"gasnett_debug_strndup", file, line}, text, strnlen(text, bytes));
}

void pinwire_debug_memcheck(const void* block, const char* file, int line) {
  const HeldHeap held;
  check_block({"gasnett_debug_memcheck", file, line}, head_of(block));
}

void pinwire_debug_memcheck_one(const char* file, int line) {
  const HeldHeap held;
  Head* head = blocks.next;
  if (head == &blocks) return;
  check_block({"gasnett_debug_memcheck_one", file, line}, head);
  unlink(head);
  link_last(head);
}

void pinwire_debug_memcheck_all(const char* file, int line) {
  const HeldHeap held;
  for (Head* head = blocks.next; head != &blocks; head = head->next) {
    check_block({"gasnett_debug_memcheck_all", file, line}, head);
  }
}

}  // extern "C"

#include "core/interrupts/linker_lock.h"

#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace pinwire {
namespace {

#ifdef __GLIBC__

/// The linker has two such locks, and a client that starts this library as it is loaded itself
/// holds the other one, too.
constexpr uint32_t kLocksMax = 2;
constinit const int* owners[kLocksMax] = {};
constinit std::atomic<uint32_t> owner_count{0};

bool is_held_by(const pthread_mutex_t& mutex, pid_t thread_id) noexcept {
  return mutex.__data.__owner == thread_id && mutex.__data.__lock != 0 &&
         mutex.__data.__count != 0 && mutex.__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP;
}

void look_for_lock(const std::byte* begin, const std::byte* end) noexcept {
  const pid_t thread_id = gettid();
  for (const std::byte* at = begin; at + sizeof(pthread_mutex_t) <= end;
       at += alignof(pthread_mutex_t)) {
    pthread_mutex_t mutex;
    std::memcpy(&mutex, at, sizeof mutex);
    const uint32_t count = owner_count.load(std::memory_order_relaxed);
    if (count == kLocksMax || !is_held_by(mutex, thread_id)) continue;
    owners[count] = &reinterpret_cast<const pthread_mutex_t*>(at)->__data.__owner;
    owner_count.store(count + 1, std::memory_order_release);  // pairs with holds_linker_lock()
  }
}

/// For dl_iterate_phdr(): 1 ends the iteration.
int look_in_linker(dl_phdr_info* object, size_t, void* linker) noexcept {
  if (reinterpret_cast<void*>(object->dlpi_addr) != linker) return 0;
  for (uint32_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const auto* begin = reinterpret_cast<const std::byte*>(object->dlpi_addr + segment.p_vaddr);
    look_for_lock(begin, begin + segment.p_memsz);
  }
  return 1;
}

#endif

}  // namespace

#ifdef __GLIBC__

void find_linker_lock() noexcept {
  void* const linker = reinterpret_cast<void*>(getauxval(AT_BASE));
  if (linker == nullptr || owner_count.load(std::memory_order_relaxed) != 0) return;
  dl_iterate_phdr(look_in_linker, linker);
}

bool holds_linker_lock(pid_t thread_id) noexcept {
  const uint32_t count = owner_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    if (__atomic_load_n(owners[i], __ATOMIC_RELAXED) == thread_id) return true;
  }
  return false;
}

#else

void find_linker_lock() noexcept {}
bool holds_linker_lock(pid_t) noexcept { return false; }

#endif

}  // namespace pinwire

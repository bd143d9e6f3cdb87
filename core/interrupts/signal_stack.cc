#include "core/interrupts/signal_stack.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

namespace pinwire {
namespace {

// The sanitizers keep books of stacks, and have alternate stacks of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasOwn = false;
#else
constexpr bool kHasOwn = true;
#endif

/// The way there and back, for a thread that is elsewhere: at the top of the stack, as there may be
/// no room where the signal came.
struct StackVisit {
  ucontext_t there, back;
  void (*work)();
};

size_t page_bytes() noexcept { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

/// Above a page that nobody may touch.
struct SignalStack {
  std::byte* base = nullptr;

  bool has(const void* at) const noexcept {
    return at >= base && at < base + kSignalStackBytes - sizeof(StackVisit);
  }
  StackVisit* visit() const noexcept {
    const auto top = reinterpret_cast<uintptr_t>(base) + kSignalStackBytes - sizeof(StackVisit);
    return reinterpret_cast<StackVisit*>(top & ~uintptr_t{alignof(StackVisit) - 1});
  }
  size_t bytes() const noexcept {
    return static_cast<size_t>(reinterpret_cast<std::byte*>(visit()) - base);
  }
};
constinit thread_local SignalStack own_stack;

void begin_stack_visit() noexcept {
  // From here on the thread is on its signal stack; uc_link brings it back.
  own_stack.visit()->work();
}

std::byte* map_stack() noexcept {
  const size_t guard = page_bytes();
  void* at = mmap(nullptr, guard + kSignalStackBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  mprotect(at, guard, PROT_NONE);
  return static_cast<std::byte*>(at) + guard;
}

}  // namespace

const int signal_stack_flags = kHasOwn ? SA_ONSTACK : 0;

void give_signal_stack() noexcept {
  if (!kHasOwn || own_stack.base != nullptr) return;
  own_stack.base = map_stack();
  if (own_stack.base == nullptr) return;
  new (own_stack.visit()) StackVisit;
  stack_t before{};
  if (sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
  stack_t own{};
  own.ss_sp = own_stack.base;
  own.ss_size = own_stack.bytes();
  sigaltstack(&own, nullptr);
}

void take_signal_stack() noexcept {
  if (own_stack.base == nullptr) return;
  stack_t now{};
  if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == own_stack.base) {
    now = {};
    now.ss_flags = SS_DISABLE;
    sigaltstack(&now, nullptr);
  }
  // A signal that was sent before comes as late as the end of a system call: it finds none, then.
  std::byte* const base = std::exchange(own_stack.base, nullptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  munmap(base - page_bytes(), page_bytes() + kSignalStackBytes);
}

sigset_t signals_from_outside() noexcept {
  sigset_t set;
  sigfillset(&set);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    sigdelset(&set, number);
  }
  return set;
}

void run_on_signal_stack(void (*work)()) noexcept {
  if (own_stack.base == nullptr || own_stack.has(__builtin_frame_address(0))) return work();
  // The frame of this signal is on an alternate stack of the client's, perhaps, and the thread
  // leaves that: the kernel would put the frame of another signal on top of it. No signal therefore
  // comes from before the way there to after the way back.
  const sigset_t outside = signals_from_outside();
  sigset_t before;
  if (pthread_sigmask(SIG_BLOCK, &outside, &before) != 0) return work();
  StackVisit& visit = *own_stack.visit();
  visit.work = work;
  getcontext(&visit.there);
  visit.there.uc_stack.ss_sp = own_stack.base;
  visit.there.uc_stack.ss_size = own_stack.bytes();
  visit.there.uc_link = &visit.back;
  makecontext(&visit.there, begin_stack_visit, 0);
  swapcontext(&visit.back, &visit.there);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace pinwire

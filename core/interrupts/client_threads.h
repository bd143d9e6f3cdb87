// The client threads that have called the library, for a dispatcher that looks for one to run
// handlers. Only in dispatch modes that have one; in the others nothing is registered.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/base/counter.h"
#include "core/interrupts/handshake.h"

namespace pinwire {

struct ThreadMemory {
  template <typename T>
  using Atomic = std::atomic<T>;
  /// Every thread of this process passes a full barrier. False where the kernel cannot.
  static bool pass_barrier(const void*) noexcept;
};

/// As much of a mask as the kernel knows, and writes where it interrupts a thread.
inline uint64_t mask_word(const sigset_t& mask) noexcept {
  uint64_t word = 0;
  std::memcpy(&word, &mask, sizeof word);
  return word;
}

struct ClientThread {
  BasicHandshake<ThreadMemory> handshake;
  /// Its polls in library calls, but those that a signal or the end of a section made it do.
  /// By itself alone.
  Counter polls;
  pid_t thread_id = 0;
  uint64_t usual_mask = 0;  ///< of the signals that it blocks, as it was when it was registered
  // notify_one(); under the lock of the list, as the next
  bool is_slow = false;
  bool is_unsent = false;
  bool has_signal_stack = false;  ///< as far as there was memory; by itself alone
  ClientThread* next = nullptr;
};
inline constinit thread_local ClientThread this_client;

/// From now on this thread may be asked to run handlers, if it was not before. It takes a lock.
void register_client_thread() noexcept;
/// Before its memory is gone; it is never to be interrupted again. For threads that end.
void forget_client_thread() noexcept;

/// Has one of them run the handlers of what has arrived (notify_one). `signal(thread)` must not
/// wait; false: it could not.
Asked notify_client(bool asks_another, bool (*signal)(const ClientThread& thread)) noexcept;
/// Signals that were sent are lost: all that were signalled are so again.
void resend_signals() noexcept;
/// As the kernel says, which takes it some ten microseconds a thread. False where it says nothing,
/// or there is no thread.
bool every_client_blocks(int signal_number) noexcept;
/// The polls of all threads, so that two looks tell whether one polls.
uint64_t count_polls() noexcept;

}  // namespace pinwire

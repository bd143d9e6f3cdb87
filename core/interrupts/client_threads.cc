#include "core/interrupts/client_threads.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "core/base/threads/membarrier.h"
#include "core/interrupts/signal_stack.h"

namespace pinwire {
namespace {

/// A list for notify_one().
struct Clients {
  struct Iterator {
    ClientThread* at;
    ClientThread& operator*() const noexcept { return *at; }
    Iterator& operator++() noexcept {
      at = at->next;
      return *this;
    }
    bool operator!=(const Iterator& other) const noexcept { return at != other.at; }
  };
  Iterator begin() const noexcept { return {first}; }
  Iterator end() const noexcept { return {nullptr}; }

  ClientThread* first = nullptr;
  /// The polls of threads that have ended.
  uint64_t polls = 0;
};
constinit Clients clients;
constinit std::mutex clients_lock;  // never taken in a signal handler

/// ThreadSanitizer makes a place for the signals of a thread in its first call that may block. With
/// gcc 12 a signal that comes meanwhile makes another, is put there, and never handled. The place
/// is therefore made before there can be a signal.
void block_once_under_tsan() noexcept {
#ifdef __SANITIZE_THREAD__
  const timespec moment{0, 1};
  nanosleep(&moment, nullptr);
#endif
}

/// The mask of the signals that a thread of this process blocks now; 0 where the kernel does not
/// tell it.
uint64_t blocked_signals(pid_t thread_id) noexcept {
  char path[40], text[4096];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/status", thread_id);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  if (bytes <= 0) return 0;
  text[bytes] = '\0';
  constexpr char kName[] = "\nSigBlk:";
  const char* at = std::strstr(text, kName);
  return at != nullptr ? std::strtoull(at + sizeof kName - 1, nullptr, 16) : 0;
}

}  // namespace

bool ThreadMemory::pass_barrier(const void*) noexcept { return pass_thread_barriers(); }

void register_client_thread() noexcept {
  if (this_client.thread_id != 0) return;
  block_once_under_tsan();
  sigset_t mask;
  if (pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0) this_client.usual_mask = mask_word(mask);
  const std::lock_guard guard(clients_lock);
  this_client.thread_id = gettid();
  this_client.next = clients.first;
  clients.first = &this_client;
}

void forget_client_thread() noexcept {
  this_client.handshake.disable(Reason::kLibrary);  // a signal may be on its way
  take_signal_stack();
  const std::lock_guard guard(clients_lock);
  for (ClientThread** at = &clients.first; *at != nullptr; at = &(*at)->next) {
    if (*at != &this_client) continue;
    *at = this_client.next;
    clients.polls += this_client.polls;
    return;
  }
}

Asked notify_client(bool asks_another, bool (*signal)(const ClientThread& thread)) noexcept {
  const std::lock_guard guard(clients_lock);
  return notify_one(clients, asks_another, signal);
}

void resend_signals() noexcept {
  const std::lock_guard guard(clients_lock);
  for (ClientThread& thread : clients) thread.is_unsent = true;
}

bool every_client_blocks(int signal_number) noexcept {
  const uint64_t bit = uint64_t{1} << (signal_number - 1);
  const std::lock_guard guard(clients_lock);
  for (const ClientThread& thread : clients) {
    if ((blocked_signals(thread.thread_id) & bit) == 0) return false;
  }
  return clients.first != nullptr;
}

uint64_t count_polls() noexcept {
  const std::lock_guard guard(clients_lock);
  uint64_t sum = clients.polls;
  for (const ClientThread& thread : clients) sum += thread.polls;
  return sum;
}

}  // namespace pinwire

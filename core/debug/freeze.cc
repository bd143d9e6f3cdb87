#include "core/debug/freeze.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "core/base/log.h"

volatile int pinwire_frozen = 0;

namespace pinwire {
namespace {

std::atomic<volatile int*> waits_for{nullptr};

void on_continue(int) {
  if (volatile int* flag = waits_for.load()) *flag = 0;
}

}  // namespace

void freeze(const char* why, volatile int& flag, const char* flag_name) noexcept {
  volatile int* none = nullptr;
  if (!waits_for.compare_exchange_strong(none, &flag)) return;
  struct sigaction before {
  }, during{};
  during.sa_handler = on_continue;
  sigemptyset(&during.sa_mask);
  flag = 1;
  sigaction(SIGCONT, &during, &before);
  const int process = getpid();
  log_note("frozen, %s: gdb -p %d, then `set var *(int*)&%s = 0' and `continue'; or kill -CONT %d",
           why, process, flag_name, process);
  while (flag != 0) {
    const timespec turn{0, 50'000'000};
    nanosleep(&turn, nullptr);
  }
  sigaction(SIGCONT, &before, nullptr);
  waits_for.store(nullptr);
}

void freeze(const char* why) noexcept { freeze(why, pinwire_frozen, "pinwire_frozen"); }

}  // namespace pinwire

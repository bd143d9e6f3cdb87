#include "extended/state/gather.h"

#include <pthread.h>

#include <atomic>
#include <cstring>
#include <optional>

#include "am/poll/poll.h"
#include "am/wait/wait.h"
#include "core/base/check.h"
#include "core/base/no_cancel.h"
#include "core/base/threads/library_thread.h"
#include "extended/state/order_of_puts.h"

namespace pinwire {
namespace {

struct Errand {
  Bootstrap* bootstrap;
  std::span<const std::byte> mine;
  std::optional<Gathered> result;
  std::atomic<bool> is_done{false};
};

void* run(void* argument) {
  Errand& errand = *static_cast<Errand*>(argument);
  errand.result.emplace(errand.bootstrap->all_gather(errand.mine));
  errand.is_done.store(true, std::memory_order_release);  // -> the acquire below
  return nullptr;
}

}  // namespace

Gathered gather_serving(Bootstrap& bootstrap, std::span<const std::byte> mine) {
  dcheck(!this_thread.in_handler, "a handler exchanges data with all ranks", mine.size());
  const NoCancel whole;
  Errand errand{&bootstrap, mine, {}, {}};
  pthread_t thread;
  show_order_of_puts();
  if (const int failure = start_library_thread(&thread, run, &errand)) {
    return error("cannot start a thread: %s; %s", std::strerror(failure), kRaiseThreads);
  }
  uint32_t empty_polls = 0;
  while (!errand.is_done.load(std::memory_order_acquire)) {
    // The errand rings no bell.
    if (poll() != 0) {
      empty_polls = 0;
    } else {
      after_empty_poll(empty_polls, Wait::kUnannounced);
    }
  }
  pthread_join(thread, nullptr);
  show_order_of_puts();
  check(errand.result.has_value(), "an exchange ends without a result");
  check(!*errand.result || (**errand.result).size() == engine.rank_count,
        "an exchange without the data of each rank", engine.rank_count);
  return std::move(*errand.result);
}

}  // namespace pinwire

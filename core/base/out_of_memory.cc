#include "core/base/out_of_memory.h"

#include <atomic>
#include <new>

#include "core/base/log.h"

namespace pinwire {
namespace {

constinit std::atomic<std::new_handler> clients_handler{nullptr};

}  // namespace

/// The client may have set its own handler since the last time.
void FatalOutOfMemory::take_handler() noexcept {
  if (std::get_new_handler() == on_no_memory) return;
  const std::new_handler before = std::set_new_handler(on_no_memory);
  // Another thread may have been here meanwhile.
  if (before != on_no_memory) clients_handler.store(before, std::memory_order_relaxed);
}

/// Operator new calls it again and again, until there is memory or no handler.
void FatalOutOfMemory::on_no_memory() {
  if (depth_ != 0) {
    fatal(
        "no memory for GASNet: raise the limits of address space and of data (ulimit -v, ulimit "
        "-d), or leave this process more of the machine's memory");
  }
  const std::new_handler clients = clients_handler.load(std::memory_order_relaxed);
  if (clients != nullptr) return clients();
  std::set_new_handler(nullptr);
}

}  // namespace pinwire

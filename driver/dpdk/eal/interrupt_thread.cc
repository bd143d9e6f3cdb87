#include "driver/dpdk/eal/interrupt_thread.h"

#include <rte_interrupts.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace pinwire {

struct InterruptsHeld::Hold {
  Hold() noexcept : handle(rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE)) {}
  ~Hold() {
    release();
    // Waits until the handler has returned.
    if (is_registered) rte_intr_callback_unregister_sync(handle, handler, this);
    if (fd >= 0) ::close(fd);
    rte_intr_instance_free(handle);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  /// False: EAL refuses, or its thread does not come.
  bool take() noexcept {
    fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (handle == nullptr || fd < 0 || rte_intr_fd_set(handle, fd) != 0 ||
        rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) != 0) {
      return false;
    }
    is_registered = rte_intr_callback_register(handle, handler, this) == 0;
    if (!is_registered) return false;
    std::unique_lock<std::mutex> lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(1), [this] { return is_inside; });
  }

  void release() noexcept {
    const std::lock_guard<std::mutex> lock(mutex);
    is_over = true;
    changed.notify_all();
  }

  /// In EAL's thread.
  static void handler(void* argument) {
    auto& hold = *static_cast<Hold*>(argument);
    std::unique_lock<std::mutex> lock(hold.mutex);
    hold.is_inside = true;
    hold.changed.notify_all();
    hold.changed.wait(lock, [&hold] { return hold.is_over; });
  }

  rte_intr_handle* handle;
  int fd = -1;
  bool is_registered = false;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_inside = false;
  bool is_over = false;
};

InterruptsHeld::InterruptsHeld() noexcept : hold_(std::make_unique<Hold>()) {
  if (!hold_->take()) hold_.reset();
}

InterruptsHeld::~InterruptsHeld() = default;

void InterruptsHeld::keep() noexcept { hold_.release(); }

}  // namespace pinwire

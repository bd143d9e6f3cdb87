#include "driver/dpdk/eal/interrupt_thread.h"

#include <rte_interrupts.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/unit/driver/dpdk/local_port.h"

namespace pinwire {
namespace {

/// A handler of somebody else's, as memif's.
class Handler {
 public:
  Handler() : handle_(rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE)) {
    rte_intr_fd_set(handle_, fd_);
    rte_intr_type_set(handle_, RTE_INTR_HANDLE_EXT);
    rte_intr_callback_register(handle_, count, this);
  }
  ~Handler() {
    rte_intr_callback_unregister_sync(handle_, count, this);
    rte_intr_instance_free(handle_);
    close(fd_);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  void trigger() const { eventfd_write(fd_, 1); }
  bool has_run() const { return runs_ != 0; }
  bool runs_within(std::chrono::milliseconds most) const {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!has_run() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return has_run();
  }

 private:
  static void count(void* argument) {
    auto& handler = *static_cast<Handler*>(argument);
    eventfd_t value;
    eventfd_read(handler.fd_, &value);
    ++handler.runs_;
  }

  const int fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  rte_intr_handle* const handle_;
  std::atomic<int> runs_{0};
};

constexpr std::chrono::milliseconds kWhile{100}, kThreadPatience{20'000};

TEST(InterruptsHeld, NoHandlerRunsUntilTheEnd) {
  with_eal([]() -> std::string {
    Handler handler;
    std::optional<InterruptsHeld> held(std::in_place);
    if (!held->is_held()) return "nothing is held";
    handler.trigger();
    if (handler.runs_within(kWhile)) return "a handler ran meanwhile";
    held.reset();
    return handler.runs_within(kThreadPatience) ? "" : "the handler never ran";
  });
}

TEST(InterruptsHeld, HandlersCanBeUnregisteredMeanwhile) {
  with_eal([]() -> std::string {
    std::optional<Handler> handler(std::in_place);
    std::optional<InterruptsHeld> held(std::in_place);
    handler->trigger();
    handler.reset();
    held.reset();
    Handler another;  // the thread goes on
    another.trigger();
    return another.runs_within(kThreadPatience) ? "" : "the thread is stuck";
  });
}

TEST(InterruptsHeld, ForEverIfKept) {
  with_eal([]() -> std::string {
    static std::optional<Handler> handler;  // which nobody unregisters
    handler.emplace();
    {
      InterruptsHeld held;
      held.keep();
    }
    handler->trigger();
    return handler->runs_within(kWhile) ? "the handler ran" : "";
  });
}

}  // namespace
}  // namespace pinwire

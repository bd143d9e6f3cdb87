// The work of a thread before it sends is shown as coming before that of another which receives;
// ThreadSanitizer is the judge. The calls themselves go on to the driver.
#include "driver/shown_order.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/idle_driver.h"

namespace pinwire {
namespace {

/// Counts the calls that it gets.
class CountingDriver final : public test::IdleDriver {
 public:
  explicit CountingDriver(std::atomic<int>* calls) : calls_(calls) {}
  uint32_t post(uint32_t, std::span<const Work> work) noexcept override {
    calls_->fetch_add(1, std::memory_order_relaxed);
    return static_cast<uint32_t>(work.size());
  }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv>) noexcept override {
    calls_->fetch_add(1, std::memory_order_relaxed);
    return 0;
  }

 private:
  std::atomic<int>* calls_;
};

TEST(ShownOrder, WhoReceivesSeesWhatWasDoneBeforeSending) {
  std::atomic<int> calls{0};
  const auto driver = make_shown_order(std::make_unique<CountingDriver>(&calls));
  int told = 0;
  std::atomic<bool> peer_answered{false};  // orders nothing, as a peer's memory does not here
  std::thread sender([&] {
    told = 7;
    const Work work{};
    EXPECT_EQ(driver->post(0, {&work, 1}), 1U);
    peer_answered.store(true, std::memory_order_relaxed);
  });
  while (!peer_answered.load(std::memory_order_relaxed)) std::this_thread::yield();
  EXPECT_EQ(driver->recv(0, RecvFilter::kAll, {}), 0U);
  EXPECT_EQ(told, 7);
  sender.join();
  EXPECT_EQ(calls.load(), 2);
}

}  // namespace
}  // namespace pinwire

// A kernel that says what a test wants, where this one cannot be made to: the system calls of
// pin/kernel/watch.h pass through told_kernel.cc. A test tells it in a scope.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace pinwire::test {

class ToldKernel {
 public:
  ToldKernel() noexcept { current.store(this); }
  ToldKernel(const ToldKernel&) = delete;
  ~ToldKernel() { current.store(nullptr); }

  /// The answers of userfaultfd when it is asked whether anything changes: the next `answers` times
  /// this errno, or that nothing does (0); then what the kernel says.
  void says(int error, uint64_t answers) noexcept {
    error_ = error;
    answers_.store(answers);
  }
  static constexpr uint64_t kAlways = ~uint64_t{0};

  enum class Call : uint8_t { kNone, kApi, kRegister, kEventFd };
  Call fails = Call::kNone;       ///< each call of that kind
  bool has_no_events = false;     ///< a poll() that has a timeout reaches it at once
  const char* release = nullptr;  ///< of uname()
  uint64_t ns_between_looks = 0;  ///< at the clock, which moves for nothing else; 0: the real one
  uint64_t start_shift = 0, end_shift = 0;  ///< of the range of the next unmapping that is read
  std::atomic<uint64_t> yields{0};
  std::atomic<uint64_t> joins{0};        ///< of threads
  std::atomic<uint64_t> asked_about{0};  ///< the page that userfaultfd was asked about last

  static inline std::atomic<ToldKernel*> current{nullptr};

  /// Whether another thread than the one that has told it looked at the clock.
  std::atomic<bool> is_clock_of_others{false};

  /// For told_kernel.cc. False: the kernel answers.
  bool answers(int& error) noexcept;
  uint64_t look_at_clock() noexcept {
    if (!pthread_equal(pthread_self(), teller_)) is_clock_of_others = true;
    return now_ns_.fetch_add(ns_between_looks);
  }

 private:
  int error_ = 0;
  std::atomic<uint64_t> answers_{0};
  const pthread_t teller_ = pthread_self();
  std::atomic<uint64_t> now_ns_{1'000'000'000'000};
};

}  // namespace pinwire::test

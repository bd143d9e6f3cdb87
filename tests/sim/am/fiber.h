// A stack of its own for a simulated rank whose code blocks, so that the production code that waits
// by polling runs as it is: it is suspended where it polls.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace pinwire::sim {

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// From outside: runs the body until it suspends or ends.
  void resume();
  /// From inside.
  void suspend();
  bool ended() const noexcept { return ended_; }

 private:
  static constexpr size_t kStackBytes = 256 * 1024;

  static void enter(unsigned low, unsigned high);
  void run();

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t inside_{};
  ucontext_t outside_{};
  bool ended_ = false;
  // Facts about the two stacks for AddressSanitizer.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_bytes_ = 0;
};

}  // namespace pinwire::sim

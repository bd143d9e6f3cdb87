#include "tests/sim/am/fiber.h"

#include <cstdint>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define PINWIRE_SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PINWIRE_SIM_ASAN 1
#endif
#endif
#ifdef PINWIRE_SIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace pinwire::sim {
namespace {

void start_switch([[maybe_unused]] void** keep, [[maybe_unused]] const void* stack,
                  [[maybe_unused]] size_t bytes) {
#ifdef PINWIRE_SIM_ASAN
  __sanitizer_start_switch_fiber(keep, stack, bytes);
#endif
}

void finish_switch([[maybe_unused]] void* kept, [[maybe_unused]] const void** stack,
                   [[maybe_unused]] size_t* bytes) {
#ifdef PINWIRE_SIM_ASAN
  __sanitizer_finish_switch_fiber(kept, stack, bytes);
#endif
}

}  // namespace

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), stack_(std::make_unique_for_overwrite<std::byte[]>(kStackBytes)) {
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_.get();
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(reinterpret_cast<void*>(&enter)), 2,
              static_cast<unsigned>(self), static_cast<unsigned>(self >> 32));
}

void Fiber::enter(unsigned low, unsigned high) {
  reinterpret_cast<Fiber*>(uintptr_t{high} << 32 | low)->run();
}

void Fiber::run() {
  finish_switch(nullptr, &outside_stack_, &outside_bytes_);
  body_();
  ended_ = true;
  start_switch(nullptr, outside_stack_, outside_bytes_);
  setcontext(&outside_);
}

void Fiber::resume() {
  start_switch(&fake_outside_, stack_.get(), kStackBytes);
  swapcontext(&outside_, &inside_);
  finish_switch(fake_outside_, nullptr, nullptr);
}

void Fiber::suspend() {
  start_switch(&fake_inside_, outside_stack_, outside_bytes_);
  swapcontext(&inside_, &outside_);
  finish_switch(fake_inside_, &outside_stack_, &outside_bytes_);
}

}  // namespace pinwire::sim

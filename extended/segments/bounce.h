// Host memory that bytes pass on their way between device memory of this process and the network,
// or another device. A transfer takes a bounce of two halves: one travels while the other is
// copied.
#pragma once

#include <cstddef>

namespace pinwire {

/// From a pool of fixed size; waits, and so polls, while all are taken. Client context.
class Bounce {
 public:
  static constexpr size_t kHalfBytes = 128 << 10;

  Bounce() noexcept;
  ~Bounce();
  Bounce(const Bounce&) = delete;

  std::byte* half(size_t turn) const noexcept { return memory_ + (turn % 2) * kHalfBytes; }

 private:
  std::byte* memory_;
};

/// Before the first. One thread at a time.
void open_bounces() noexcept;

}  // namespace pinwire

// The receive buffers of one simulated queue. A buffer belongs to the port, or, between rx() and
// release(), to the driver; a released one is scribbled over (and poisoned under AddressSanitizer),
// so that whoever still reads it is found out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pinwire::sim {

class RxPool {
 public:
  RxPool(uint32_t buffers, uint32_t bytes_each);
  ~RxPool();
  RxPool(const RxPool&) = delete;
  RxPool& operator=(const RxPool&) = delete;

  /// A buffer that holds `frame`; nullptr when none is free.
  std::byte* take(std::span<const std::byte> frame);
  /// False when `buffer` is not one that is out.
  [[nodiscard]] bool give_back(const void* buffer);
  bool is_out(const void* buffer) const;
  /// Lets the first `bytes` of a buffer that is out be used, beyond its frame. False: it is not
  /// out.
  [[nodiscard]] bool widen(const void* buffer, uint32_t bytes);
  uint32_t out() const noexcept { return out_; }
  uint32_t out_max() const noexcept { return out_max_; }

 private:
  /// The buffer's number, or the pool's size for a stranger.
  size_t index(const void* buffer) const;

  size_t stride_;
  std::unique_ptr<std::byte[]> memory_;  ///< not initialised: most of it is never used
  std::byte* base_;
  std::vector<uint32_t> free_;
  std::vector<bool> taken_;
  uint32_t out_ = 0;
  uint32_t out_max_ = 0;
};

}  // namespace pinwire::sim

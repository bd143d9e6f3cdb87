// The driver's own registered memory: message buffers, credit words. Pages of their own that a
// forked child does not have, so that it cannot take the device's copy of them away by writing
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "driver/verbs/device/device.h"

namespace pinwire::verbs {

class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  /// Zeroed. `access`: IBV_ACCESS_*.
  static Result<Memory> make(const Device& device, uint64_t bytes, int access, const char* what);

  std::byte* base() const noexcept { return base_; }
  uint32_t local_key() const noexcept {
    dcheck(region_ != nullptr, "a key of memory that is not registered");
    return region_->lkey;
  }
  uint32_t remote_key() const noexcept {
    dcheck(region_ != nullptr, "a key of memory that is not registered");
    return region_->rkey;
  }

 private:
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  Owned<ibv_mr, ibv_dereg_mr> region_;
};

/// Why memory could not be registered, with the limits in force and what raises them.
std::string registration_failure(uint64_t bytes, int reason);

}  // namespace pinwire::verbs

// Buffers of one size in registered memory.
#pragma once

#include <vector>

#include "core/base/check.h"
#include "driver/verbs/device/memory.h"

namespace pinwire::verbs {

class BufferPool {
 public:
  static constexpr uint32_t kNone = ~0u;

  Status open(const Device& device, uint32_t count, uint32_t bytes_each, const char* what) {
    // The data of a read is a write of the peer's to iWARP (RFC 5040, 5.3).
    const int access = IBV_ACCESS_LOCAL_WRITE | (device.is_iwarp ? IBV_ACCESS_REMOTE_WRITE : 0);
    auto memory = Memory::make(device, uint64_t{count} * bytes_each, access, what);
    if (!memory) return memory.error();
    memory_ = std::move(*memory);
    bytes_each_ = bytes_each;
    check(free_.empty(), "a pool of buffers is opened twice", count);
    free_.reserve(count);
    for (uint32_t i = count; i != 0; --i) free_.push_back(i - 1);
    return success();
  }

  uint32_t take() noexcept {
    check(!free_.empty(), "a buffer was taken that is not there");
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void give(uint32_t index) noexcept {
    dcheck(index < free_.capacity(), "a buffer is given that the pool has not", index);
    dcheck(free_.size() < free_.capacity(), "more buffers given than taken", index);
    free_.push_back(index);
  }
  size_t free_count() const noexcept { return free_.size(); }
  std::byte* at(uint32_t index) const noexcept {
    dcheck(index < free_.capacity(), "no such buffer of a pool", index);
    return memory_.base() + uint64_t{index} * bytes_each_;
  }
  uint32_t bytes_each() const noexcept { return bytes_each_; }
  uint32_t local_key() const noexcept { return memory_.local_key(); }

 private:
  Memory memory_;
  uint32_t bytes_each_ = 0;
  std::vector<uint32_t> free_;  // a stack: the warmest first; its capacity is reserved once
};

}  // namespace pinwire::verbs

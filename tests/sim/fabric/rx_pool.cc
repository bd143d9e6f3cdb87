#include "tests/sim/fabric/rx_pool.h"

#include <cstring>
#include <utility>

#include "core/base/bits.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#endif

namespace pinwire::sim {

RxPool::RxPool(uint32_t buffers, uint32_t bytes_each)
    : stride_(align_up<size_t>(bytes_each + 1, 64)),
      memory_(std::make_unique_for_overwrite<std::byte[]>(stride_ * buffers + 64)),
      base_(memory_.get()),
      taken_(buffers) {
  base_ += align_up(reinterpret_cast<uintptr_t>(base_), uintptr_t{64}) -
           reinterpret_cast<uintptr_t>(base_);
  for (uint32_t i = buffers; i > 0; --i) free_.push_back(i - 1);
  ASAN_POISON_MEMORY_REGION(base_, stride_ * buffers);
}

RxPool::~RxPool() { ASAN_UNPOISON_MEMORY_REGION(base_, stride_ * taken_.size()); }

std::byte* RxPool::take(std::span<const std::byte> frame) {
  if (free_.empty() || frame.size() > stride_) return nullptr;
  const uint32_t i = free_.back();
  free_.pop_back();
  taken_[i] = true;
  ++out_;
  if (out_ > out_max_) out_max_ = out_;
  std::byte* const buffer = base_ + stride_ * i;
  ASAN_UNPOISON_MEMORY_REGION(buffer, frame.size());
  std::memcpy(buffer, frame.data(), frame.size());
  return buffer;
}

size_t RxPool::index(const void* buffer) const {
  const auto address = reinterpret_cast<uintptr_t>(buffer);
  const auto base = reinterpret_cast<uintptr_t>(base_);
  const bool ours = inside(address, 1, base, stride_ * taken_.size());
  return ours && (address - base) % stride_ == 0 ? (address - base) / stride_ : taken_.size();
}

bool RxPool::is_out(const void* buffer) const {
  const size_t i = index(buffer);
  return i < taken_.size() && taken_[i];
}

bool RxPool::widen(const void* buffer, uint32_t bytes) {
  if (!is_out(buffer) || bytes > stride_) return false;
  ASAN_UNPOISON_MEMORY_REGION(base_ + stride_ * index(buffer), bytes);
  return true;
}

bool RxPool::give_back(const void* buffer) {
  if (!is_out(buffer)) return false;
  const size_t i = index(buffer);
  ASAN_UNPOISON_MEMORY_REGION(base_ + stride_ * i, stride_);
  std::memset(base_ + stride_ * i, 0xa5, stride_);
  ASAN_POISON_MEMORY_REGION(base_ + stride_ * i, stride_);
  taken_[i] = false;
  free_.push_back(static_cast<uint32_t>(i));
  --out_;
  return true;
}

}  // namespace pinwire::sim

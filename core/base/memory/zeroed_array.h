// An array that owns zeroed memory, of which the kernel gives a page when it is touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "core/base/check.h"
#include "core/base/memory/reserve.h"

namespace pinwire {

template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "its objects begin as zero bytes, without their member initializers");

 public:
  ZeroedArray() noexcept = default;
  ZeroedArray(ZeroedArray&& other) noexcept
      : objects_(std::exchange(other.objects_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  ZeroedArray& operator=(ZeroedArray&& other) noexcept {
    std::swap(objects_, other.objects_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ZeroedArray() {
    if (objects_ != nullptr) munmap(objects_, bytes_);
  }

  /// All bytes are zero; whoever takes an object for use sets what must not be.
  void make(size_t count) { check(try_make(count), "no memory for an array", count * sizeof(T)); }
  /// False: there is no memory. The array begins at a page.
  bool try_make(size_t count) noexcept {
    dcheck(objects_ == nullptr && count != 0, "an array is made once", count);
    void* const memory = map_zeroed(count * sizeof(T));
    if (memory == nullptr) return false;
    objects_ = static_cast<T*>(memory);
    bytes_ = count * sizeof(T);
    return true;
  }
  T* get() const noexcept { return objects_; }
  T& operator[](size_t index) const noexcept { return objects_[index]; }

 private:
  T* objects_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace pinwire

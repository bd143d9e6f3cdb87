// The contiguous pieces of one end of a copy, in order: a stream of bytes that the other end cuts
// elsewhere (UPC-022, UPC-024). Shared pieces name their thread, private ones the caller.
#pragma once

#include "extended/upc/handle.h"

namespace pinwire::upc {

struct Region {
  uint32_t thread = 0;
  char* at = nullptr;
  size_t bytes = 0;  ///< 0: there is no more
};

inline Region region_of(bupc_gptr_t pointer, size_t bytes) noexcept {
  return {pointer.thread, static_cast<char*>(pointer.addr), bytes};
}
inline Region region_of(const void* pointer, size_t bytes) noexcept {
  return {bupc_mythread(), static_cast<char*>(readable(pointer)), bytes};
}

/// bupc_smemvec_t or bupc_pmemvec_t; those of no bytes are passed over.
template <typename Entry>
class VectorStream {
 public:
  VectorStream(const Entry* list, size_t count) noexcept : next_(list), end_(list + count) {}
  Region next() noexcept {
    while (next_ != end_ && next_->len == 0) ++next_;
    if (next_ == end_) return {};
    const Entry& entry = *next_++;
    return region_of(entry.addr, entry.len);
  }

 private:
  const Entry* next_;
  const Entry* end_;
};

/// Pointers to regions of one length.
template <typename Pointer>
class IndexedStream {
 public:
  IndexedStream(const Pointer* list, size_t count, size_t bytes) noexcept
      : next_(list), end_(bytes != 0 ? list + count : list), bytes_(bytes) {}
  Region next() noexcept {
    if (next_ == end_) return {};
    return region_of(*next_++, bytes_);
  }

 private:
  const Pointer* next_;
  const Pointer* end_;
  size_t bytes_;
};

/// Chunks at one distance.
class ChunkStream {
 public:
  ChunkStream(Region first, size_t stride, size_t count) noexcept
      : at_(first), stride_(stride), left_(first.bytes != 0 ? count : 0) {}
  Region next() noexcept {
    if (left_ == 0) return {};
    --left_;
    const Region region = at_;
    at_.at += stride_;
    return region;
  }

 private:
  Region at_;
  size_t stride_;
  size_t left_;
};

/// Elements of a box, whose place follows from their number: any number of dimensions without
/// memory for positions. No count is 0.
class BoxStream {
 public:
  BoxStream(Region first, const size_t* strides, const size_t* counts, size_t levels) noexcept
      : first_(first), strides_(strides), counts_(counts), levels_(levels) {
    for (size_t level = 0; level < levels; ++level) left_ *= counts[level];
  }
  Region next() noexcept {
    if (left_ == 0) return {};
    --left_;
    Region region = first_;
    size_t rest = index_++;
    for (size_t level = 0; level < levels_; ++level) {
      region.at += rest % counts_[level] * strides_[level];
      rest /= counts_[level];
    }
    return region;
  }

 private:
  Region first_;
  const size_t* strides_;
  const size_t* counts_;
  size_t levels_;
  size_t index_ = 0;
  size_t left_ = 1;
};

}  // namespace pinwire::upc

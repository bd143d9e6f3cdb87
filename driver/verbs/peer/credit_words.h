// The words that peers write counts of credit into (link.h), for the peers that were met.
#pragma once

#include <vector>

#include "driver/verbs/device/memory.h"

namespace pinwire::verbs {

class CreditWords {
 public:
  struct Word {
    uint64_t* at;
    uint32_t remote_key;
  };

  /// Another one, which is 0.
  Result<Word> take(const Device& device) {
    constexpr uint32_t kEach = 512;
    check(taken_ <= chunks_.size() * kEach, "more credit words are taken than there are", taken_);
    if (taken_ == chunks_.size() * kEach) {
      auto chunk = Memory::make(device, kEach * sizeof(uint64_t),
                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, "credit words");
      if (!chunk) return chunk.error();
      chunks_.push_back(std::move(*chunk));
    }
    const Memory& chunk = chunks_.back();
    return Word{reinterpret_cast<uint64_t*>(chunk.base()) + taken_++ % kEach, chunk.remote_key()};
  }
  void close() noexcept {
    chunks_.clear();
    taken_ = 0;
  }

 private:
  std::vector<Memory> chunks_;
  size_t taken_ = 0;
};

}  // namespace pinwire::verbs

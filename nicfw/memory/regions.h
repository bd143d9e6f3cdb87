// Pinned and exposed memory: what peers may read and write, and under which key.
//
// pin() and unpin() belong to the control thread; the lanes look up at the same time. An entry is
// published by a release store of its key, which pairs with the acquire load in find(). Unpinning
// memory that somebody still uses is the caller's bug (driver.h: the caller has waited).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/base/result.h"
#include "driver/work.h"
#include "nicfw/port/port.h"
#include "nicfw/wire/frame_tag.h"

namespace pinwire {

class Regions {
 public:
  static constexpr uint32_t kCount = 1u << 12;

  struct Entry {
    std::atomic<uint32_t> key{0};  ///< 0: free. Low 12 bits: the index; the rest: random, never 0
    uint32_t port_key = 0;         ///< for transmission in place; 0: the port copies
    uint64_t base = 0;
    uint64_t bytes = 0;
  };

  /// Keys come from the job key by a keyed function: nobody without it can tell them, and they
  /// differ from job to job.
  void make(uint64_t job_key, Rank rank);
  Result<Region> pin(Port& port, void* base, uint64_t bytes);
  /// Memory that the port has no part in: it is copied on its way out, and has no local key, as it
  /// may be gone when a frame is repeated. Base 0 and ~0 bytes: all memory.
  Result<Region> expose(void* base, uint64_t bytes);
  Status unpin(Port& port, const Region& region);
  void unpin_all(Port& port);

  /// The entry under `key`, or nullptr.
  const Entry* find(uint32_t key) const noexcept {
    const Entry& entry = entries_[key % kCount];
    return key != kNoRegion && entry.key.load(std::memory_order_acquire) == key ? &entry : nullptr;
  }
  /// The same, if [address, address + bytes) lies inside it.
  const Entry* find(uint32_t key, uint64_t address, uint64_t bytes) const noexcept;

 private:
  uint32_t fresh_key(uint32_t index) noexcept;
  /// A free entry for a range that makes sense.
  Result<Entry*> entry_for(void* base, uint64_t bytes);
  /// Lets lookups see it; returns its key.
  uint32_t open(Entry& entry, void* base, uint64_t bytes, uint32_t port_key) noexcept;

  std::unique_ptr<Entry[]> entries_;
  FrameKey job_;
  Rank rank_ = 0;
  uint64_t keys_made_ = 0;
  uint32_t search_from_ = 0;
};
static_assert(sizeof(Regions::Entry) == 24);

}  // namespace pinwire

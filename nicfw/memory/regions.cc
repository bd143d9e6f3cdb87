#include "nicfw/memory/regions.h"

#include "core/base/bits.h"

namespace pinwire {

void Regions::make(uint64_t job_key, Rank rank) {
  constexpr uint32_t kNoLane = ~0u;  // the lanes' tags have keys of their own
  entries_ = std::make_unique<Entry[]>(kCount);
  job_ = FrameKey(job_key, kNoLane);
  rank_ = rank;
  keys_made_ = 0;
  search_from_ = 0;
}

uint32_t Regions::fresh_key(uint32_t index) noexcept {
  uint32_t key = 0;
  while (key < kCount) key = static_cast<uint32_t>(job_.tag(rank_, keys_made_++)) & ~(kCount - 1);
  return key | index;
}

Result<Regions::Entry*> Regions::entry_for(void* base, uint64_t bytes) {
  if (bytes == 0 || bytes > ~reinterpret_cast<uint64_t>(base)) {
    return error("cannot pin %llu bytes at %p: the range is empty or wraps around",
                 static_cast<unsigned long long>(bytes), base);
  }
  for (uint32_t tried = 0; tried < kCount; ++tried) {
    Entry& entry = entries_[(search_from_ + tried) % kCount];
    if (entry.key.load(std::memory_order_relaxed) == 0) return &entry;
  }
  return error(
      "cannot pin %llu bytes at %p: all %u region entries are in use; pin fewer, larger ranges",
      static_cast<unsigned long long>(bytes), base, kCount);
}

uint32_t Regions::open(Entry& entry, void* base, uint64_t bytes, uint32_t port_key) noexcept {
  const auto index = static_cast<uint32_t>(&entry - entries_.get());
  search_from_ = index + 1;  // the longest-free entry next: old keys stay wrong for long
  entry.port_key = port_key;
  entry.base = reinterpret_cast<uint64_t>(base);
  entry.bytes = bytes;
  const uint32_t key = fresh_key(index);
  entry.key.store(key, std::memory_order_release);
  return key;
}

Result<Region> Regions::pin(Port& port, void* base, uint64_t bytes) {
  Result<Entry*> entry = entry_for(base, bytes);
  if (!entry) return entry.error();
  Result<uint32_t> attached = port.attach(base, bytes);
  if (!attached) return attached.error();
  const uint32_t key = open(**entry, base, bytes, *attached);
  return Region{(*entry)->base, bytes, key, key};
}

Result<Region> Regions::expose(void* base, uint64_t bytes) {
  Result<Entry*> entry = entry_for(base, bytes);
  if (!entry) return entry.error();
  const uint32_t key = open(**entry, base, bytes, 0);
  return Region{(*entry)->base, bytes, kNoRegion, key};
}

Status Regions::unpin(Port& port, const Region& region) {
  Entry& entry = entries_[region.remote_key % kCount];
  if (find(region.remote_key) == nullptr || entry.base != region.base) {
    return error("cannot unpin %llu bytes at 0x%llx: no region has the key 0x%x",
                 static_cast<unsigned long long>(region.bytes),
                 static_cast<unsigned long long>(region.base), region.remote_key);
  }
  entry.key.store(0, std::memory_order_release);
  if (entry.port_key != 0) port.detach(entry.port_key);
  return success();
}

void Regions::unpin_all(Port& port) {
  if (!entries_) return;
  for (uint32_t i = 0; i < kCount; ++i) {
    if (entries_[i].key.exchange(0) != 0 && entries_[i].port_key != 0) {
      port.detach(entries_[i].port_key);
    }
  }
}

const Regions::Entry* Regions::find(uint32_t key, uint64_t address, uint64_t bytes) const noexcept {
  const Entry* entry = find(key);
  return entry != nullptr && inside(address, bytes, entry->base, entry->bytes) ? entry : nullptr;
}

}  // namespace pinwire

#include "nicfw/regions.h"

#include "core/base/bits.h"

namespace pinwire {

void Regions::make(uint64_t seed) {
  entries_ = std::make_unique<Entry[]>(kCount);
  random_ = Random(seed);
  search_from_ = 0;
}

uint32_t Regions::fresh_key(uint32_t index) noexcept {
  uint32_t key = 0;
  while (key < kCount) key = static_cast<uint32_t>(random_.next()) & ~(kCount - 1);
  return key | index;
}

Result<Region> Regions::pin(Port& port, void* base, uint64_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(base);
  if (bytes == 0 || bytes > ~address) {
    return error("cannot pin %llu bytes at %p: the range is empty or wraps around",
                 static_cast<unsigned long long>(bytes), base);
  }
  for (uint32_t tried = 0; tried < kCount; ++tried) {
    const uint32_t index = (search_from_ + tried) % kCount;
    Entry& entry = entries_[index];
    if (entry.key.load(std::memory_order_relaxed) != 0) continue;
    Result<uint32_t> attached = port.attach(base, bytes);
    if (!attached) return attached.error();
    search_from_ = index + 1;  // the longest-free entry next: old keys stay wrong for long
    entry.port_key = *attached;
    entry.base = address;
    entry.bytes = bytes;
    const uint32_t key = fresh_key(index);
    entry.key.store(key, std::memory_order_release);
    return Region{address, bytes, key, key};
  }
  return error(
      "cannot pin %llu bytes at %p: all %u region entries are in use; pin fewer, larger ranges",
      static_cast<unsigned long long>(bytes), base, kCount);
}

Status Regions::unpin(Port& port, const Region& region) {
  Entry& entry = entries_[region.local_key % kCount];
  if (find(region.local_key) == nullptr || entry.base != region.base) {
    return error("cannot unpin %llu bytes at 0x%llx: no region has the key 0x%x",
                 static_cast<unsigned long long>(region.bytes),
                 static_cast<unsigned long long>(region.base), region.local_key);
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

#include "extended/coll/algorithms/scratch_parts.h"

#include <algorithm>
#include <bit>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

struct Parts {
  std::byte* base = nullptr;
  uint32_t count = 0;
};

/// The parts of the scratch, on cache lines of their own; none if the scratch is not in the segment
/// that the client promised it to be in (EX-102).
Parts parts_of(const pinwire_tm& tm) noexcept {
  const auto at = reinterpret_cast<uint64_t>(tm.scratch.gex_addr);
  const pinwire_segment* segment = tm.endpoint->segment;
  const uint64_t base = align_up(at, uint64_t{kCacheLineBytes});
  const uint64_t end = at + tm.scratch.gex_len;
  if (segment == nullptr || base >= end ||
      !inside(at, tm.scratch.gex_len, reinterpret_cast<uint64_t>(segment->base), segment->bytes)) {
    return {};
  }
  return {reinterpret_cast<std::byte*>(base),
          static_cast<uint32_t>(std::min<uint64_t>((end - base) / kScratchPartBytes, kWindowOps))};
}

}  // namespace

std::byte* take_part(Member& member, PieceMemory& memory, size_t bytes) noexcept {
  dcheck(memory.part == PieceMemory::kNoPart, "a part was not given back", memory.part);
  memory.part = PieceMemory::kNoPart;
  if (bytes == 0) return nullptr;
  if (bytes <= kScratchPartBytes) {
    const Parts parts = parts_of(*member.tm);
    const auto part = static_cast<uint32_t>(std::countr_one(member.scratch_parts));
    if (part < parts.count) {
      dcheck((member.scratch_parts >> part & 1) == 0, "a part is taken twice", part);
      member.scratch_parts |= 1u << part;
      memory.part = part;
      return parts.base + part * kScratchPartBytes;
    }
  }
  return memory.own.reserve(bytes);
}

void give_back_part(Member& member, PieceMemory& memory) noexcept {
  if (memory.part == PieceMemory::kNoPart) return;
  dcheck(memory.part < kWindowOps, "a part that no scratch has", memory.part);
  dcheck((member.scratch_parts >> memory.part & 1) != 0, "a part that is free", memory.part);
  member.scratch_parts &= ~(1u << memory.part);
  memory.part = PieceMemory::kNoPart;
}

}  // namespace pinwire

// The scratch that clients give to teams (GX-070, EX-100), in parts: one for each operation in
// progress that wants one. Others have memory of their own, which is kept for the next ones.
#pragma once

#include "extended/coll/messages/stream.h"

namespace pinwire {

/// Places for the pieces of all children, by how many they are.
constexpr uint32_t up_window(uint32_t children) noexcept { return children <= 1 ? 8 : 4; }
constexpr size_t up_bytes(uint32_t children) noexcept {
  return size_t{children} * up_window(children) * kPieceBytes;
}
/// The size of a part of the client's scratch, for one operation in progress; and the size of the
/// scratch that teams ask for (EX-109).
inline constexpr size_t kScratchPartBytes = up_bytes(1);
inline constexpr uint32_t kScratchParts = 2;
inline constexpr size_t kScratchBytesWanted = kScratchParts * kScratchPartBytes;

/// A part of the client's scratch, or memory that is kept.
struct PieceMemory {
  static constexpr uint32_t kNoPart = ~0u;
  uint32_t part = kNoPart;
  Scratch own;
};

/// Memory for pieces; nullptr for none.
std::byte* take_part(Member& member, PieceMemory& memory, size_t bytes) noexcept;
void give_back_part(Member& member, PieceMemory& memory) noexcept;

}  // namespace pinwire

#include "nicfw/receive/assemblies.h"

#include <cstring>

#include "core/base/check.h"

namespace pinwire {
namespace {

/// An assembly that was begun so many frames of its peer ago is one that the peer has given up or
/// sent whole; if it has not, it repeats the frame. Far fewer than sequences, so that none meets a
/// frame with its sequence again.
constexpr uint64_t kAssemblyFramesMax = 1 << 20;
/// An assembly to which so long no new piece came makes room for another frame: its sender is gone,
/// or has lost the rest, and sends every piece again. The pieces of a thousand senders in step on a
/// link of 1 Gb/s are 12 ms apart; a receiver that computes sees some in each of its rare polls, of
/// which the lane's watch counts 10 ms each.
constexpr uint64_t kAssemblyIdleNs = 100'000'000;

}  // namespace

void Assemblies::make(uint32_t frame_bytes) {
  frame_bytes_ = frame_bytes;
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_t{kCount} * frame_bytes);
}

Assembly* Assemblies::find(Rank rank, const FrameHeader& header, const Piece& piece,
                           uint64_t watch_ns) noexcept {
  const uint64_t number = header.number_64();
  Assembly* unused = nullptr;
  Assembly* idle = nullptr;
  for (Assembly& assembly : assemblies_) {
    const bool is_stale = assembly.peer == rank && number > assembly.number + kAssemblyFramesMax;
    if (is_stale) assembly.arrived = 0;
    if (assembly.is_of(rank, header, piece)) return &assembly;
    if (assembly.arrived == 0) {
      unused = &assembly;
    } else if (watch_ns >= assembly.progress_ns + kAssemblyIdleNs) {
      idle = &assembly;
    }
  }
  Assembly* const chosen = unused != nullptr ? unused : idle;
  if (chosen == nullptr) return nullptr;
  *chosen = {rank, header.flow(), header.sequence, number, 0, 0, piece.step, piece.total};
  return chosen;
}

void Assemblies::add(Assembly& assembly, const Piece& piece, const std::byte* part,
                     uint64_t watch_ns) noexcept {
  dcheck(are_made() && piece.offset() + piece.bytes() <= frame_bytes_,
         "a piece is longer than the frame that it belongs to", piece.offset(), piece.bytes());
  std::memcpy(bytes_.get() + offset_of(assembly) + piece.offset(), part, piece.bytes());
  assembly.add(piece.index, watch_ns);
}

const std::byte* Assemblies::records_of(const Assembly& assembly) const noexcept {
  dcheck(assembly.is_whole(), "an incomplete frame is read", assembly.peer);
  return bytes_.get() + offset_of(assembly);
}

}  // namespace pinwire

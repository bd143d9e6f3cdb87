// Frames that a lane puts together from pieces (piece.h). Few are incomplete at once. A piece for
// which there is no assembly is as good as lost: its sender repeats the frame.
#pragma once

#include <cstdint>
#include <memory>

#include "nicfw/wire/piece.h"

namespace pinwire {

class Assemblies {
 public:
  static constexpr uint32_t kCount = 16;  ///< frames that may be incomplete at once

  /// Memory for frames of so many bytes. Without it no piece may be taken.
  void make(uint32_t frame_bytes);
  bool are_made() const noexcept { return bytes_ != nullptr; }

  /// The assembly that the piece belongs to, or nullptr. `watch_ns`: the time for which this lane
  /// has looked. Where all are in use, a piece of another frame is as good as lost: if it took the
  /// place of an assembly that still grows, senders in step, one more than there are assemblies,
  /// would evict each other's for ever.
  Assembly* find(Rank rank, const FrameHeader& header, const Piece& piece,
                 uint64_t watch_ns) noexcept;
  /// Copies the piece's part of the records to its place.
  void add(Assembly& assembly, const Piece& piece, const std::byte* part,
           uint64_t watch_ns) noexcept;
  /// The records of a whole frame.
  const std::byte* records_of(const Assembly& assembly) const noexcept;
  /// The frame was taken: the assembly is free.
  static void end(Assembly& assembly) noexcept { assembly.arrived = 0; }

 private:
  size_t offset_of(const Assembly& assembly) const noexcept {
    return static_cast<size_t>(&assembly - assemblies_) * frame_bytes_;
  }

  std::unique_ptr<std::byte[]> bytes_;
  uint32_t frame_bytes_ = 0;
  Assembly assemblies_[kCount] = {};
};

}  // namespace pinwire

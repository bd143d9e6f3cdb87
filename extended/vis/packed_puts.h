// The pieces of one put of many pieces, each started where it is cheapest.
//
// A driver that moves bytes by a CPU at the target, or by a system call here, spends more on the
// operation than on a piece of a few bytes. Where it takes lists (Caps::scatter_bytes_max) small
// pieces are collected here and go together, as one operation; the rest go alone, or are copied at
// once where the peer's memory is mapped. A list is no message: it is carried out as a put is,
// whatever the target's client does, and no handler waits for it (GX-133, VIS-002).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/api_types.h"
#include "core/engine/target.h"
#include "driver/scatter.h"

namespace pinwire::vis {

class PackedPuts {
 public:
  /// Larger pieces gain nothing by one more copy.
  static constexpr size_t kPieceBytesMax = 128;
  static constexpr uint32_t kListBytesMax = 4096;

  /// `op` counts all completions, from the calling thread alone.
  PackedPuts(Target to, pinwire_op& op) noexcept;
  PackedPuts(const PackedPuts&) = delete;

  /// Client context, as finish(); both wait for room. The source stays until `op` is finished.
  void put(const std::byte* source, std::byte* dest, size_t bytes) noexcept;
  /// Starts what is still collected.
  void finish() noexcept;

 private:
  bool is_packed(const std::byte* dest, size_t bytes) const noexcept;

  Target to_;
  pinwire_op& op_;
  ScatterWriter pieces_;
  alignas(8) std::byte list_[kListBytesMax];
};

}  // namespace pinwire::vis

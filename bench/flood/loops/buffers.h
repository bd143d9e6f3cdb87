// The memory that flows: four areas of the same size in each rank's segment, and the addresses of
// the partner's. Local buffers can be outside the segment instead (--buffers heap).
#pragma once

#include <gasnet.h>

#include <cstddef>
#include <cstdint>

#include "core/base/result.h"

namespace pinwire::flood {

/// Addresses that one measurement needs, as plain locals of its loop.
struct Path {
  gasnet_node_t partner = 0;
  std::byte* source = nullptr;         ///< local: what puts and AMs send
  std::byte* sink = nullptr;           ///< local: where gets arrive
  std::byte* remote_sink = nullptr;    ///< at the partner: where puts and Long AMs arrive
  std::byte* remote_source = nullptr;  ///< at the partner: what gets read
  std::byte* reply_sink = nullptr;     ///< in the own segment: where Long replies arrive
  uint64_t bytes = 0;
  uint32_t window = 0;                 ///< operations in flight; 0: no limit of ours
  gasnet_handle_t* handles = nullptr;  ///< kHandlesMax of them
};

inline constexpr uint32_t kHandlesMax = 65535;  // C1-224
inline constexpr uint32_t kAreas = 4;

/// The segment that attach needs for areas of `buffer_bytes`.
uintptr_t segment_bytes(uint64_t buffer_bytes);

/// After attach. Fills what partners will read with a pattern of this rank. A sentence if a segment
/// is too small.
Result<Path> make_path(gasnet_node_t partner, uint64_t buffer_bytes, bool in_heap);

/// Checks that the data of a measurement really arrived: marks it before, looks after.
class DataCheck {
 public:
  /// Marks `path.bytes` of the source, and spoils the sink.
  explicit DataCheck(const Path& path);
  bool put_arrived() const;    ///< reads back what the partner holds
  bool get_arrived() const;    ///< the sink holds the partner's pattern
  bool reply_arrived() const;  ///< the Long reply brought the source back

 private:
  const Path& path_;
};

}  // namespace pinwire::flood

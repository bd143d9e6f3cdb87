// The memory of a segment: a memfd, so that ranks of one host map each other; on huge pages, else
// transparent huge pages, else 4 KiB pages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "pin/budget.h"

namespace pinwire {

enum class PageKind : uint8_t { kHuge, kTransparent, kSmall };
const char* page_kind_name(PageKind kind) noexcept;

struct SegmentMemory {
  std::byte* base = nullptr;
  uint64_t bytes = 0;
  int fd = -1;  ///< -1: no memory
  PageKind pages = PageKind::kSmall;
};

/// Contents are left alone (C1-084); pages appear when first touched or pinned. `bytes` is a
/// multiple of GASNET_PAGESIZE; 0 gives an empty segment.
Result<SegmentMemory> create_segment_memory(uint64_t bytes, SegmentPages policy);

/// Maps a peer's segment of this host into this process. `inode`: which file it is
/// (core/base/descriptors/peer_file.h).
Result<SegmentMemory> map_peer_memory(int pid, int fd, uint64_t inode, uint64_t bytes);

void release_segment_memory(SegmentMemory& memory) noexcept;

/// The most that a segment of this process may have: its share of the host's available memory and
/// of the cgroup's limit, a multiple of the page size (C1-093).
uint64_t segment_bytes_limit(uint32_t ranks_on_host, const PinLimits& limits) noexcept;

}  // namespace pinwire

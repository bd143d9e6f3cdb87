// Reads too short for a device to answer them right. siw (of Linux 6.1) sends an answer of up to 32
// bytes by siw_try_1seg(), which takes wrong bytes where they cross a page, and which breaks the
// connection (EFAULT) when a kernel thread gets there while a process is on its way out of
// ibv_post_send(). Longer answers go another way. Reads therefore become longer there, within the
// pages that they touch, and what was wanted is copied out of them; and memory is registered by
// whole pages, so that they may. On every iWARP device, as the peer of any may be siw.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/bits.h"
#include "core/base/memory/page.h"

namespace pinwire::verbs {

inline constexpr uint32_t kIwarpReadBytesMin = 33;

struct WideRead {
  uint64_t remote = 0;
  uint32_t bytes = 0;
  uint32_t skipped = 0;  ///< before what was wanted
};

/// `bytes`: some, and fewer than `bytes_min`, which is at most a page.
constexpr WideRead widen(uint64_t remote, uint32_t bytes, uint32_t bytes_min) noexcept {
  const uint64_t end = align_up(remote + bytes, kPageBytes);
  const uint64_t from = std::min(remote, end - bytes_min);
  return {from, bytes_min, static_cast<uint32_t>(remote - from)};
}

}  // namespace pinwire::verbs

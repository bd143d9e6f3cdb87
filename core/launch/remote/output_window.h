// How much output of the ranks of another host may be under way to the launcher. The agent reads no
// more of it than the window holds, and goes on as the launcher takes what came: a reader that is
// slow, or takes nothing, stops the ranks, as it does without a launcher. The memory of both is
// bounded by that, whatever the connection holds: of a host that is a window, and what ranks that
// ended have left in their pipes. One count for both streams of all ranks, as the launcher stops
// reading all of them when one of its own streams is full.
#pragma once

#include <limits.h>

#include <algorithm>
#include <cstddef>

namespace pinwire::launch {

inline constexpr size_t kOutputWindowBytes = 256 << 10;

/// The agent's side.
class OutputWindow {
 public:
  void sent(size_t bytes) noexcept { under_way_bytes_ += bytes; }
  void taken(size_t bytes) noexcept { under_way_bytes_ -= std::min(under_way_bytes_, bytes); }
  bool is_used_up() const noexcept { return under_way_bytes_ >= kOutputWindowBytes; }

 private:
  size_t under_way_bytes_ = 0;
};

/// The launcher's side.
class OutputCredit {
 public:
  void came(size_t bytes) noexcept { bytes_ += bytes; }
  /// How much the agent is to be told of; 0: nothing yet, for not each line is worth an answer, and
  /// an agent never waits for less than a quarter of its window.
  int take() noexcept {
    if (bytes_ < kOutputWindowBytes / 4) return 0;
    const size_t taken = std::min<size_t>(bytes_, INT_MAX);
    bytes_ -= taken;
    return static_cast<int>(taken);
  }

 private:
  size_t bytes_ = 0;
};

}  // namespace pinwire::launch

// A handler at the peer once the data of a put of many pieces is there (GX-138).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engine/target.h"

namespace pinwire::vis {

/// The completion handler that gex_VIS_SetPeerCompletionHandler armed for this thread's next put.
struct PeerCompletion {
  uint8_t handler = 0;  ///< 0: nothing
  const void* source = nullptr;
  size_t bytes = 0;
};
inline constexpr size_t kPeerCompletionBytesMax = 256;

void arm_peer_completion(const PeerCompletion& completion) noexcept;
bool has_peer_completion() noexcept;
/// The calling thread's, which is disarmed.
PeerCompletion take_peer_completion() noexcept;
/// The put is complete at `to`. Client context.
void tell_peer(Target to, const PeerCompletion& completion) noexcept;

void register_peer_completion() noexcept;

}  // namespace pinwire::vis

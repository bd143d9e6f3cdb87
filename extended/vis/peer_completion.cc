#include "extended/vis/peer_completion.h"

#include <utility>

#include "am/handlers/dispatch.h"
#include "am/handlers/handlers.h"
#include "am/send/send.h"
#include "core/base/check.h"

namespace pinwire::vis {
namespace {

thread_local PeerCompletion armed;

/// The client's handler was registered for replies: it runs as one.
void on_complete(pinwire_token* token, void* payload, size_t bytes, int32_t handler,
                 int32_t endpoint) {
  run_as_reply(*token, static_cast<uint8_t>(handler), static_cast<uint8_t>(endpoint), payload,
               bytes);
}

}  // namespace

void arm_peer_completion(const PeerCompletion& completion) noexcept {
  dcheck(completion.bytes == 0 || completion.source != nullptr, "data that is nowhere",
         completion.bytes);
  armed = completion;
}
bool has_peer_completion() noexcept { return armed.handler != 0; }
PeerCompletion take_peer_completion() noexcept { return std::exchange(armed, PeerCompletion{}); }

void tell_peer(Target to, const PeerCompletion& completion) noexcept {
  dcheck(completion.handler != 0, "a completion that nobody armed", to);
  dcheck(completion.bytes <= kPeerCompletionBytesMax, "a completion with too much data",
         completion.bytes);
  const int32_t args[] = {completion.handler, static_cast<int32_t>(endpoint_of(to))};
  request_medium(rank_of(to), {kHandlerVisComplete, 2, args}, completion.source, completion.bytes);
}

void register_peer_completion() noexcept { register_internal(kHandlerVisComplete, on_complete); }

}  // namespace pinwire::vis

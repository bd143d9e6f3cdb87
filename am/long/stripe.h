// Large transfers over several ports at once: each rail carries a part of its own.
#pragma once

#include "core/engine/engine.h"
#include "driver/work.h"

namespace pinwire {

/// The part of a transfer that one rail carries, and the route that it takes.
struct Stripe {
  Route route;
  uint64_t at = 0;  ///< from the start of the transfer
  uint64_t bytes = 0;
};

/// In pages, alike for all rails but the last; 0 bytes: none is left for this one.
Stripe stripe_of(Rank peer, const Route& route, uint64_t bytes, uint32_t rail) noexcept;

/// Posts `bytes` of a put or get from or to pinned memory (Engine::stripe_min) over all rails, from
/// client context; returns the completions that this will bring. `work` has the kind, the peer and
/// the cookie.
uint32_t post_striped(Work work, const Route& route, void* local, uint64_t remote,
                      uint64_t bytes) noexcept;

/// The payload of a Long: returns when the target has it.
void put_striped(Rank to, const Route& route, const void* source, uint64_t remote,
                 uint64_t bytes) noexcept;

}  // namespace pinwire

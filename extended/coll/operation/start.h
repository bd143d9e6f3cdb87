// The beginning of a collective operation.
#pragma once

#include "core/api_types.h"
#include "extended/coll/operation/collective.h"

namespace pinwire {

/// A fresh operation of `tm`, to be filled in and started. Client context.
Collective& new_collective(gex_TM_t tm, Collective::Script script) noexcept;

/// Its event: GEX_EVENT_INVALID if it is complete already. It may not be touched afterwards.
gex_Event_t start_collective(Collective& c) noexcept;
/// The same, and waits.
void run_collective(Collective& c) noexcept;

}  // namespace pinwire

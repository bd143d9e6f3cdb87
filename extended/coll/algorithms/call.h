// What all calls of collectives check first.
#pragma once

#include "core/api_types.h"

namespace pinwire {

/// A team, not destroyed and no pair; a root that it has; no flags (GX-148). Fatal else.
void check_collective(const char* call, gex_TM_t tm, gex_Rank_t root, gex_Flags_t flags) noexcept;

}  // namespace pinwire

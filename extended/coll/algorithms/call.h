// The checks that all calls of collectives begin with.
#pragma once

#include "core/api_types.h"

namespace pinwire {

/// Fatal unless `tm` is a team, not destroyed and no pair, `root` is a member of it, and no flags
/// are set (GX-148).
void check_collective(const char* call, gex_TM_t tm, gex_Rank_t root, gex_Flags_t flags) noexcept;

}  // namespace pinwire

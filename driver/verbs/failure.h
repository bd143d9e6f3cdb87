// What a completion that failed means.
#pragma once

#include <infiniband/verbs.h>

#include "driver/work.h"

namespace pinwire::verbs {

WorkStatus status_of(ibv_wc_status status) noexcept;
/// What it means for the user, and what to look at.
const char* advice_on(ibv_wc_status status) noexcept;

}  // namespace pinwire::verbs

// The meaning of a completion that failed.
#pragma once

#include <infiniband/verbs.h>

#include "driver/work.h"

namespace pinwire::verbs {

WorkStatus status_of(ibv_wc_status status) noexcept;
/// Its meaning for the user, and advice.
const char* advice_on(ibv_wc_status status) noexcept;

}  // namespace pinwire::verbs

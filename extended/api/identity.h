// The identity of this library and its client: for linkers, launchers and people who read the
// binary, and to refuse programs that mix objects.
#pragma once

#include "core/base/result.h"

namespace pinwire {

/// Objects compiled for another segment kind are in this program: other mixes do not link.
Status check_units(const char* config);

/// Makes a linker keep the identification strings.
void keep_idents() noexcept;

}  // namespace pinwire

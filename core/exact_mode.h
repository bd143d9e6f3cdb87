// For sources that tell SEQ from PARSYNC: own_sources of extended/meson.build.
#pragma once

#include "core/mode.h"

namespace pinwire {

static_assert(kCompiledMode != ThreadMode::kSeqOrParsync,
              "name this source in extended/meson.build's own_sources");
inline constexpr ThreadMode kThreadMode = kCompiledMode;

}  // namespace pinwire

// The phases of the scripts that move and reduce data. Each script uses some of them, in its own
// order; all begin with the first.
#pragma once

#include <cstdint>

namespace pinwire {

enum Phase : uint32_t { kBegin = 0, kReceive, kSend, kSent, kFlow, kFold, kCombine, kAwait };

}  // namespace pinwire

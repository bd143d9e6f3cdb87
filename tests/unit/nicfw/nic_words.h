// The words of tests of NICs.
#pragma once

#include <cstdint>

#include "driver/work.h"
#include "nicfw/wire/wire.h"  // before: the names of its flows are these, too

namespace pinwire {

inline constexpr auto kRequest = MessageClass::kRequest;
inline constexpr auto kReply = MessageClass::kReply;
inline constexpr uint64_t kWord = 5;                ///< what a short message says
inline constexpr uint64_t kNever = 50'000'000'000;  ///< a timeout that no test waits for
inline constexpr uint64_t kPercent = 100;           ///< of a whole

}  // namespace pinwire

// gasnet_tools.h as its implementation sees it. The room is compiled twice: for programs of one
// thread and for programs of several (GASNETT_THREAD_SINGLE, GASNETT_THREAD_SAFE from the build).
#pragma once

#define PINWIRE_LIBRARY 1  // not one of its clients
#include "core/api/gasnet_tools.h"

namespace pinwire {

inline constexpr bool kThreads = PINWIRE_TOOLS_THREADS != 0;

#ifdef GASNET_DEBUG
inline constexpr bool kDebugTools = true;
#else
inline constexpr bool kDebugTools = false;
#endif

}  // namespace pinwire

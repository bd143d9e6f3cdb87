// Handler-safe locks (2.4.4). Handlers run inside GASNet calls, so in SEQ and PARSYNC nobody else
// can want a lock that this thread holds; in PAR, and beside a thread of the library, other threads
// run handlers, so it is a real one: a futex, taken by one locked operation and given back by a
// plain store. 0: free, 1: held, 2: held and someone sleeps, perhaps.
#pragma once

#include <cstdint>

namespace pinwire {

void hsl_lock(uint32_t& word) noexcept;
bool hsl_try_lock(uint32_t& word) noexcept;
void hsl_unlock(uint32_t& word) noexcept;

}  // namespace pinwire

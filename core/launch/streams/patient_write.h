// Words of a launcher or an agent while no loop runs: before a job and after it, and the last word
// of fatal(). The signals that ask for its end are blocked all the time, and a plain write(2) to a
// reader that takes nothing would hear none of them but SIGKILL.
#pragma once

#include <cstdint>
#include <string_view>

namespace pinwire::launch {

/// How long a reader that takes nothing keeps words once a signal has asked for the end.
inline constexpr int64_t kUnreadMs = 1500;

/// Writes all of `text`. Returns 0, or errno; ECANCELED: a signal asks for the end, and for so long
/// the reader has taken nothing. Later words that it does not take at once are dropped, too. Safe
/// where memory may be broken, as in fatal().
int write_patiently(int fd, std::string_view text) noexcept;

}  // namespace pinwire::launch

// Facts that the tools learn from the job that they are part of. Without one they ask the process
// itself.
#pragma once

namespace pinwire {

/// `lookup` answers gasnett_getenv from now on; `is_reporter`: this process tells settings in
/// verbose mode.
void tools_join_job(const char* (*lookup)(const char* name), bool is_reporter) noexcept;
bool tools_are_in_a_job() noexcept;

}  // namespace pinwire

// The end of a rank whose launcher died: it must not go on alone.
#pragma once

namespace pinwire::bootstrap {

inline constexpr int kLauncherGoneExitCode = 1;

/// Says that `launcher` is gone and ends the process at once, without the client's exit handlers:
/// a thread of the library calls this while the client's threads compute.
[[noreturn]] void end_without_launcher(const char* launcher) noexcept;

}  // namespace pinwire::bootstrap

// Directories for sockets and the like that no crash leaves behind for ever: a lock on one tells
// that its maker lives, and whoever finds one without a lock may remove it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace pinwire {

/// The names begin so; six random letters follow.
inline constexpr std::string_view kJobDirStart = "pinwire-job-";
inline constexpr std::string_view kEalDirStart = "pinwire-eal-";

struct LockedDir {
  std::string path;  ///< without links
  int lock_fd;       ///< the caller's to close; closes at exec. The lock goes with its last copy
};

/// Mode 0700, in `parent`. The name appears with the lock already held, so that one without a lock
/// is left over, however young it is. (A process killed in the microseconds before leaves an empty
/// directory, pinwire-new-XXXXXX.)
Result<LockedDir> make_locked_dir(const std::string& parent, std::string_view start);

/// Removes from `parent` the directories of this process's user that nobody has locked;
/// `before_removal`, if there is one, is told of each.
void remove_unlocked_dirs(const std::string& parent,
                          const std::function<void(const std::string& path)>& before_removal = {});

}  // namespace pinwire

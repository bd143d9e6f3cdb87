// Directories for sockets and the like that no crash leaves behind for ever: a lock on one tells
// that its maker lives, and whoever finds one without a lock may remove it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace pinwire {

/// The names begin so; six random letters follow.
inline constexpr std::string_view kJobDirStart = "pinwire-job-";
inline constexpr std::string_view kEalDirStart = "pinwire-eal-";
/// Ranks whom no launcher of ours started have it: no process carries its name as a mark.
inline constexpr std::string_view kRanksDirStart = "pinwire-ranks-";
/// Its job is over, and its user wants to see it: nobody removes it.
inline constexpr std::string_view kKeptDirStart = "pinwire-kept-";

struct LockedDir {
  std::string path;  ///< without links
  int lock_fd;       ///< the caller's to close; closes at exec. The lock goes with its last copy
};

/// Mode 0700, in `parent`. The name appears with the lock already held, so that one without a lock
/// is left over, however young it is. A sentence, too, if another user could put a directory of
/// that name there in its place: it would be removed with all that is in it.
Result<LockedDir> make_locked_dir(const std::string& parent, std::string_view start);

/// From now on the directory is kept at its end, whoever comes upon it: its mode tells.
Status keep_locked_dir(const LockedDir& directory);

/// The end of a directory of these names: removed, or renamed where it is to be kept.
void finish_locked_dir(const std::string& path);

/// Finishes those directories in `parent` whose names begin with one of `starts`, that are this
/// process's user's, and that nobody has locked; `before_removal`, if there is one, is told of
/// each. What a maker left that was killed before it gave the name goes as well. Leaves all alone
/// where another user may have given the names.
void finish_unlocked_dirs(const std::string& parent, std::span<const std::string_view> starts,
                          const std::function<void(const std::string& path)>& before_removal = {});

}  // namespace pinwire

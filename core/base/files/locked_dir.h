// Directories for sockets and the like that no crash leaves behind for ever: a lock on one tells
// that its maker lives, and a process that finds one without a lock may remove it.
//
// Users, too, name directories after Pinwire, so a name alone must not have one removed. After its
// start a name has six random letters, and six that are computed from those and from the inode
// number of the directory: no directory matches that was named by hand, copied or restored. An
// attribute (xattr(7)) is not to be had on every file system, and a file inside would be copied
// with the rest. Where inode numbers change (FUSE, layers of overlayfs that went through a restart)
// a directory that a crash left stays, which harms nobody; one whose maker lives is removed by its
// path, and needs no such proof.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files/dir_letters.h"
#include "core/base/result.h"

namespace pinwire {

/// The names begin so; kDirLetters letters follow (dir_letters.h).
inline constexpr std::string_view kJobDirStart = "pinwire-job-";
/// That of a job whose directory is kept at its end. The name tells it: ranks may change the mode.
inline constexpr std::string_view kKeepDirStart = "pinwire-job-keep-";
inline constexpr std::string_view kEalDirStart = "pinwire-eal-";
/// Ranks whom no launcher of ours started have it: no process carries its name as a mark.
inline constexpr std::string_view kRanksDirStart = "pinwire-ranks-";
/// Its job is over, and its user wants to see it: nobody removes it.
inline constexpr std::string_view kKeptDirStart = "pinwire-kept-";

struct LockedDir {
  std::string path;  ///< without links
  int lock_fd;       ///< the caller's to close; closes at exec. The lock goes with its last copy
};

/// Mode 0700, whatever the umask, in `parent`. The name appears with the lock already held, so that
/// one without a lock is left over, however young it is. A sentence, too, if another user could put
/// a directory of that name there in its place: it would be removed with all that is in it.
Result<LockedDir> make_locked_dir(const std::string& parent, std::string_view start);

/// The end of a directory of these names: removed, or, where it is to be kept and holds anything,
/// renamed. A sentence if something of it stays that should not.
Status finish_locked_dir(const std::string& path);

/// Where finish_locked_dir() has put the directory whose path was `path`; empty if nothing is kept.
std::string where_kept(const std::string& path, int lock_fd);

/// Those directories in `parent` whose names begin with one of `starts`, that are this process's
/// user's, and that nobody has locked. None where another user may have given the names.
std::vector<std::string> left_over_dirs(const std::string& parent,
                                        std::span<const std::string_view> starts);

/// Finishes what left_over_dirs() has found, unless another process is about to. A directory that
/// cannot be removed stays, and the next call tries again.
void finish_left_over(std::span<const std::string> paths);

/// Both, and removes what a maker left in `parent` that was killed before it gave the name.
void finish_unlocked_dirs(const std::string& parent, std::span<const std::string_view> starts);

}  // namespace pinwire

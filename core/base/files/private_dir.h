// Directories in which nobody but this process's user can put a file or a socket. An object that a
// process connects to below such a directory was put there by its own user (or by root, from whom
// nothing can be kept).
#pragma once

#include <string>

#include "core/base/result.h"

namespace pinwire {

/// The path of `path` without links, if only this process's effective user can make entries there:
/// it is a directory, no link, belongs to that user, and neither its group nor others may write to
/// it; and nobody else may put another in its place: each directory above it belongs to root or to
/// that user, and where others may write it is sticky, as /tmp is. Otherwise a sentence that names
/// the directory at fault.
Result<std::string> resolve_private_dir(const std::string& path);

/// Success if nobody but this process's user, or root, can give another's entry of the directory a
/// new name: it belongs to one of them, and where others may write to it, it is sticky. `path` has
/// no links.
Status check_names_in(const std::string& path);

}  // namespace pinwire

// Removes a directory and all in it, but nothing that is mounted there.
#pragma once

#include <string>

#include "core/base/result.h"

namespace pinwire {

/// Follows no links, and opens what this process's user has closed to itself (chmod 0). A directory
/// on which something is mounted stays, and so does what is mounted: it belongs to somebody else.
/// The number of the device does not tell (a bind mount of the same file system has the same, so
/// FTW_MOUNT of nftw(3) walks into it); the mount's own number does. Nothing at `path` is fine. If
/// anything stays, all else goes, and a sentence names the first that stays and says why.
Status remove_tree(const std::string& path);

}  // namespace pinwire

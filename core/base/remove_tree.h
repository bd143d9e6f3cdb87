// Removes a directory and all in it, but nothing that is mounted there.
#pragma once

#include <string>

namespace pinwire {

/// Follows no links. A directory on which something is mounted stays, and so does what is mounted:
/// it belongs to somebody else. The number of the device does not tell (a bind mount of the same
/// file system has the same, so FTW_MOUNT of nftw(3) walks into it); the mount's own number does.
/// Nothing at `path` is fine.
void remove_tree(const std::string& path);

}  // namespace pinwire

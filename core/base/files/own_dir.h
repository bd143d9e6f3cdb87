// Directories of this process's user, which a program of that user may have closed to it (chmod 0):
// to empty one, its owner needs all of its own rights.
#pragma once

namespace pinwire {

/// A descriptor (O_PATH) of the directory `name` itself, which needs no rights on it; -1 and errno
/// if it is none, or a link.
int find_dir(int parent_fd, const char* name) noexcept;

/// Opens for reading what find_dir() has found, which stays open. A directory that is closed to
/// this process's user, who owns it, is opened to the user. -1 and errno if that cannot be.
int open_own_dir(int found_fd) noexcept;

/// Gives the owner of an open directory all rights to it.
void take_own_rights(int fd) noexcept;

}  // namespace pinwire

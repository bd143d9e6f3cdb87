// Where the kernel hides what a process has open from all others of its user (a program with file
// capabilities, a set-user-ID or an unreadable one), its peers cannot open its files through
// /proc/<pid>/fd. Such a process opens a door: a socket, at which a thread of the library gives the
// descriptors that the process offers (offered_files.h) to processes of the same job and effective
// user. A peer connects for each file that it wants, and closes the connection then: a door takes
// one descriptor of its process, whatever the number of peers, and none of theirs.
//
// Other users find the socket, too: its name is a number that the kernel chooses, in a space that
// the whole network namespace shares. Both sides ask the kernel who the other is (SO_PEERCRED).
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace pinwire {

/// By what peers find a door. 0: there is none.
using DoorNumber = uint32_t;

/// Whether this process's peers need one.
bool are_files_hidden() noexcept;

/// Opens the door of this process. Once; it stays open until the process ends. Peers show
/// `job_key`.
Result<DoorNumber> open_file_door(uint64_t job_key);

/// The process `pid`, a peer of this job, has that door; it is told before any file is asked for.
void learn_file_door(int pid, DoorNumber number, uint64_t job_key);

/// Whether learn_file_door() has told of one.
bool has_file_door(int pid) noexcept;

/// A descriptor of the file that `pid` offers by the number `fd` and that has that inode.
Result<int> ask_at_file_door(int pid, int fd, uint64_t inode);

}  // namespace pinwire

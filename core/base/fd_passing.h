// Where the kernel hides what a process has open from all others of its user (a program with file
// capabilities, a set-user-ID or an unreadable one), its peers cannot open its files through
// /proc/<pid>/fd. Such a process starts a descriptor server (fd_server.h): a thread of the library
// that passes the descriptors which the process offers (offered_files.h) through a socket, to
// processes of the same job and effective user. A peer connects for each file that it wants, and
// closes the connection then: a server holds two descriptors of its process, whatever the number of
// peers, and none of theirs.
//
// Other users find the socket, too: its name is a number that the kernel chooses, in a space that
// the whole network namespace shares. Both sides ask the kernel who the other is (SO_PEERCRED).
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace pinwire {

/// By what peers find a server. 0: there is none.
using FdServerAddress = uint32_t;

/// Whether this process's peers need one.
bool are_files_hidden() noexcept;

/// Starts the server of this process. Once; it runs until the process ends. Peers show `job_key`.
Result<FdServerAddress> start_fd_server(uint64_t job_key);

/// Keeps where the server of process `pid`, a peer of this job, is. Before any file is asked for.
void learn_fd_server(int pid, FdServerAddress number, uint64_t job_key);

/// Whether learn_fd_server() was called for one.
bool has_fd_server(int pid) noexcept;

/// A descriptor of the file that `pid` offers by the number `fd` and that has that inode.
Result<int> request_fd(int pid, int fd, uint64_t inode);

}  // namespace pinwire

// Where the kernel hides what a process has open from all others of its user (a program with file
// capabilities, a set-user-ID or an unreadable one), its peers cannot open its files through
// /proc/<pid>/fd. Such a process starts a descriptor server (fd_server.h): a thread of the library
// that passes the descriptors which the process offers (offered_files.h) through a socket, to
// processes of the same job, user and group. A peer connects for each file that it wants, and
// closes the connection then: a server holds two descriptors of its process, whatever the number of
// peers, and none of theirs.
//
// Other users find the socket, too: its name is a number that the kernel chooses, in a space that
// the whole network namespace shares. Both sides ask the kernel who the other is (SO_PEERCRED), and
// compare it with what they were themselves at gasnet_init(): a program may give up its rights
// afterwards. The kernel tells of one that connects what it is now, so where that differs the
// server looks at the one that listens at the peer's own server, of which the kernel keeps what it
// was.
//
// This is the kernel's rule for /proc/<pid>/fd (ptrace(2), access mode checking) but for one point:
// the kernel asks for all capabilities of the owner, too. File capabilities change neither user nor
// group, so ranks with and without them have each other's memory. They have it anyway, for a rank
// of the job may put and get there by messages; and what the server gives is the library's alone,
// which brings no capability with it. A program that is set-user-ID or set-group-ID acts for
// somebody else, and gives nothing to its user.
#pragma once

#include <cstdint>

#include "core/base/descriptors/fd_peers.h"
#include "core/base/result.h"

namespace pinwire {

/// Whether this process's peers need one.
bool are_files_hidden() noexcept;

/// Starts the server of this process. Once; it runs until the process ends. Peers show `job_key`.
Result<FdServerAddress> start_fd_server(uint64_t job_key);

/// Keeps where the server of process `pid`, a peer of this job on this host, is, or that it has
/// none (0), and what this process is meanwhile. Before any file is asked for.
void learn_fd_server(int pid, FdServerAddress number, uint64_t job_key);

/// Whether that process has one, as far as learn_fd_server() told.
bool has_fd_server(int pid) noexcept;

/// Whether this process's user or group is another than when it learned of that peer.
bool has_become_another(int pid) noexcept;

/// A descriptor of the file that `pid` offers by the number `fd` and that has that inode.
Result<int> request_fd(int pid, int fd, uint64_t inode);

}  // namespace pinwire

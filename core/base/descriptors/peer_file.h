// Files without a name that processes of one host share (memfd_create, pipes): a peer opens one
// through /proc/<pid>/fd or, where the kernel hides that, gets it from the owner's descriptor
// server (fd_passing.h). Its pid may be of another namespace, or be used again, and name something
// else here. The owner therefore says which file it is, too.
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace pinwire {

/// The descriptor of that file, which has at least so many bytes: to touch a page that a file has
/// not kills. A sentence if it is another one, or cannot be opened. The caller closes it.
Result<int> open_peer_file(int pid, int fd, uint64_t inode, uint64_t bytes);

/// A sentence of advice for when one cannot be opened: the kernel refuses it for every peer of
/// another user or PID namespace, and, without a descriptor server, for every process whose program
/// has more rights than its user.
const char* advice_on_peer_files() noexcept;

}  // namespace pinwire

// Where the ranks of one host meet over DPDK. They connect to nothing that another user could have
// put there: the job's directory if its user alone may write to it, else a new one of theirs with a
// name that nobody can guess.
#pragma once

#include <string>

#include "extended/state/job.h"

namespace pinwire {

struct SocketDirectory {
  std::string path;              ///< without links; empty: there is none
  std::string reason;            ///< why there is none; empty: nobody named one
  bool of_ranks = false;         ///< the first rank of this host made it
  bool is_any_of_ranks = false;  ///< some host's first rank made one
  int lock_fd = -1;              ///< in the rank that made it
};

/// Under gasnetrun_pinwire the launcher's (GASNET_JOB_DIR). Under PMIx the first rank of each host
/// chooses for all of its ranks: GASNET_JOB_DIR if it is private (core/base/files/private_dir.h),
/// else one that it makes below that, or, where none is named, below GASNET_TMPDIR. All ranks call
/// this together.
Result<SocketDirectory> agree_on_socket_directory(const Job& job);

/// All ranks call this together, with ports that are up or have failed: the sockets are connected,
/// and a directory that the ranks made goes. If its maker was killed before, the next job of its
/// user that makes one there removes it; below GASNET_TMPDIR, the next launcher, too
/// (core/launch/sweep/job_dir.h). Directories of launchers stay: a process that removes one must
/// first kill what is left of its job.
Status leave_socket_directory(const Job& job, SocketDirectory& directory);

}  // namespace pinwire

#include "driver/dpdk/switch/open_files.h"

#include <sys/resource.h>

namespace pinwire {

/// Counted in /proc: EAL and the switch have 15, a port 4, and each of its queues an event to be
/// kicked by and one to call by, for either direction. A rank's memory comes in up to 8 files,
/// which are closed once they are mapped.
uint64_t open_files_of(const SwitchOptions& options) noexcept {
  constexpr uint64_t kFiles = 16, kFilesOfPort = 4, kFilesOfQueue = 4, kFilesOfMemory = 8;
  return kFiles + kFilesOfMemory +
         uint64_t{options.ports} * (kFilesOfPort + kFilesOfQueue * options.queues);
}

Status let_open_files(uint64_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return success();
  if (limit.rlim_max >= count) {
    limit.rlim_cur = count;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return success();
  }
  return error(
      "the switch opens up to %llu files here, and may have %llu: raise the limit of open "
      "files (ulimit -n)",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(limit.rlim_max));
}

}  // namespace pinwire

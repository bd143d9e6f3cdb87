#include "driver/dpdk/eal/address_space.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pinwire {
namespace {

/// The port's threads have stacks, and its device has rings, before the peer connects.
constexpr uint64_t kPortBytes = uint64_t{16} << 20;

}  // namespace

bool address_space_is_limited() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool lacked_address_space(const std::string& log) {
  const std::string failure = std::string("mmap failed (") + strerror(ENOMEM);
  for (size_t from = 0; from < log.size();) {
    const size_t end = std::min(log.find(';', from), log.size());
    const std::string line = log.substr(from, end - from);
    const size_t at = line.find(failure);
    if (at != line.npos && line.find("VHOST") < at) return true;
    from = end + 1;
  }
  return false;
}

Status leave_address_space_for(uint64_t peer_bytes) {
  const uint64_t bytes = peer_bytes + kPortBytes;
  void* trial = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial != MAP_FAILED) {
    munmap(trial, bytes);
    return success();
  }
  return error(
      "DPDK maps %llu MiB of another rank's memory, for which this process has no address space "
      "left (%s): %s",
      static_cast<unsigned long long>(peer_bytes >> 20), strerror(errno), kRaiseAddressSpace);
}

}  // namespace pinwire

#include "driver/verbs/device/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/bits.h"
#include "core/base/files/number_file.h"
#include "core/base/memory/page.h"

namespace pinwire::verbs {

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(region_, other.region_);
  return *this;
}

Memory::~Memory() {
  region_.reset();
  if (base_ != nullptr) munmap(base_, bytes_);
}

Result<Memory> Memory::make(const Device& device, uint64_t bytes, int access, const char* what) {
  check(bytes != 0, "memory of no bytes is registered");
  Memory memory;
  memory.bytes_ = align_up(bytes, kPageBytes);
  void* base = mmap(nullptr, memory.bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (base == MAP_FAILED) {
    return error("no memory for %s: %s", what, std::strerror(errno));
  }
  memory.base_ = static_cast<std::byte*>(base);
  madvise(base, memory.bytes_, MADV_DONTFORK);
  memory.region_.reset(ibv_reg_mr(device.pd.get(), base, memory.bytes_, access));
  if (!memory.region_) {
    const int reason = errno;
    return error("%s: cannot register %s: %s", device.name.c_str(), what,
                 registration_failure(memory.bytes_, reason).c_str());
  }
  return memory;
}

std::string registration_failure(uint64_t bytes, int reason) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  char lock[48] = "unlimited";
  if (limit.rlim_cur != RLIM_INFINITY) {
    std::snprintf(lock, sizeof lock, "%llu KiB",
                  static_cast<unsigned long long>(limit.rlim_cur / 1024));
  }
  const unsigned long long in_use =
      number_in("/proc/self/status", "VmLck:") + number_in("/proc/self/status", "VmPin:");
  char text[400];
  std::snprintf(text, sizeof text,
                "%llu bytes: %s. The limit of locked memory is %s, %llu KiB of it in use, counted "
                "once for each device that pins it; `ulimit -l unlimited` (or "
                "memlock in /etc/security/limits.conf) raises it, GASNET_MAX_SEGSIZE lowers what "
                "is asked for",
                static_cast<unsigned long long>(bytes), std::strerror(reason), lock, in_use);
  return text;
}

}  // namespace pinwire::verbs

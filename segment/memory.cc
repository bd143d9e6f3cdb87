#include "segment/memory.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/base/descriptors/offered_files.h"
#include "core/base/descriptors/peer_file.h"
#include "core/base/files/file_size.h"
#include "core/base/files/number_file.h"
#include "core/base/memory/page.h"

namespace pinwire {
namespace {

/// Named to the kernel (MFD_HUGE_2MB), whose default may be another.
constexpr uint64_t kHugePageBytes = 2u << 20;

uint64_t free_huge_page_bytes() noexcept {
  return number_in("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "") * kHugePageBytes;
}

/// Reserves: a mapping of huge pages that the kernel cannot back fails here, not at first touch.
Result<SegmentMemory> create_on(uint64_t bytes, unsigned memfd_flags, PageKind pages) {
  SegmentMemory memory;
  memory.pages = pages;
  const uint64_t unit = pages == PageKind::kHuge ? kHugePageBytes : kPageBytes;
  const uint64_t file_bytes = align_up(bytes, unit);
  check(file_bytes >= bytes, "a segment of more bytes than there are addresses", bytes);
  memory.fd = memfd_create("pinwire-segment", MFD_CLOEXEC | memfd_flags);
  if (memory.fd < 0) return error("memfd_create: %s", std::strerror(errno));
  if (resize_file(memory.fd, file_bytes) != 0) {
    const int reason = errno;
    close(memory.fd);
    return error("ftruncate to %llu bytes: %s%s%s", static_cast<unsigned long long>(file_bytes),
                 std::strerror(reason), reason == EFBIG ? "; " : "",
                 reason == EFBIG ? kRaiseFileSize : "");
  }
  void* base = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd, 0);
  if (base == MAP_FAILED) {
    const int reason = errno;
    close(memory.fd);
    return error("mmap of %llu bytes: %s", static_cast<unsigned long long>(file_bytes),
                 std::strerror(reason));
  }
  memory.base = static_cast<std::byte*>(base);
  memory.bytes = file_bytes;
  offer_file(memory.fd);
  return memory;
}

}  // namespace

const char* page_kind_name(PageKind kind) noexcept {
  switch (kind) {
    case PageKind::kHuge:
      return "2 MiB huge pages";
    case PageKind::kTransparent:
      return "transparent huge pages";
    case PageKind::kSmall:
      return "4 KiB pages";
  }
  return "?";
}

Result<SegmentMemory> create_segment_memory(uint64_t bytes, SegmentPages policy) {
  if (bytes == 0) return SegmentMemory{};
  if (policy != SegmentPages::kNo) {
    const bool enough = free_huge_page_bytes() >= align_up(bytes, kHugePageBytes);
    if (enough || policy == SegmentPages::kYes) {
      auto memory = create_on(bytes, MFD_HUGETLB | MFD_HUGE_2MB, PageKind::kHuge);
      if (memory) return memory;
      if (policy == SegmentPages::kYes) {
        return error(
            "the segment of %llu bytes cannot have huge pages (%s). Reserve some: echo %llu > "
            "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages, or unset "
            "GASNET_USE_HUGEPAGES.",
            static_cast<unsigned long long>(bytes), memory.sentence().c_str(),
            static_cast<unsigned long long>(bytes / kHugePageBytes + 1));
      }
    }
  }
  auto memory = create_on(bytes, 0, PageKind::kSmall);
  if (!memory) {
    return error(
        "the segment of %llu bytes cannot be created (%s). Ask for less, or lower "
        "GASNET_MAX_SEGSIZE.",
        static_cast<unsigned long long>(bytes), memory.sentence().c_str());
  }
  if (policy != SegmentPages::kNo && bytes >= kHugePageBytes &&
      madvise(memory->base, memory->bytes, MADV_HUGEPAGE) == 0) {
    char mode[128] = "";
    const int fd = open("/sys/kernel/mm/transparent_hugepage/shmem_enabled", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
      if (read(fd, mode, sizeof mode - 1) < 0) mode[0] = 0;
      close(fd);
    }
    const bool honoured =
        mode[0] != 0 && !std::strstr(mode, "[never]") && !std::strstr(mode, "[deny]");
    if (honoured) memory->pages = PageKind::kTransparent;
  }
  return memory;
}

Result<SegmentMemory> map_peer_memory(int pid, int fd, uint64_t inode, uint64_t bytes) {
  SegmentMemory memory;
  auto opened = open_peer_file(pid, fd, inode, bytes);
  if (!opened) return error("the segment of a peer: %s", opened.sentence().c_str());
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *opened, 0);
  const int reason = errno;
  close(*opened);
  if (base == MAP_FAILED) {
    return error("cannot map the segment of a peer, of %llu bytes: %s",
                 static_cast<unsigned long long>(bytes), std::strerror(reason));
  }
  madvise(base, bytes, MADV_HUGEPAGE);  // a hint; refused on hugetlbfs, which needs none
  memory.base = static_cast<std::byte*>(base);
  memory.bytes = bytes;
  return memory;
}

void release_segment_memory(SegmentMemory& memory) noexcept {
  if (memory.base != nullptr) munmap(memory.base, memory.bytes);
  close_offered_file(memory.fd);
  memory = SegmentMemory{};
}

uint64_t segment_bytes_limit(uint32_t ranks_on_host, const PinLimits& limits) noexcept {
  // Shared memory may also not exceed what a tmpfs-like file can hold; leave an eighth to the rest.
  const uint64_t bytes = std::min(limits.available_bytes, limits.group_bytes);
  return bytes / 8 * 7 / std::max(ranks_on_host, 1u) / kPageBytes * kPageBytes;
}

}  // namespace pinwire

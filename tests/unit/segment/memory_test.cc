#include "segment/memory.h"

#include <gtest/gtest.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "core/base/files/file_inode.h"

namespace {
unsigned last_flags = 0;  ///< of the file of a segment
}  // namespace

/// In place of the C library's.
extern "C" int memfd_create(const char* name, unsigned flags) noexcept {
  last_flags = flags;
  return static_cast<int>(syscall(SYS_memfd_create, name, flags));
}

namespace pinwire {
namespace {

TEST(SegmentMemory, APeerMapsTheSameBytes) {
  auto own = create_segment_memory(1 << 20, SegmentPages::kNo);
  ASSERT_TRUE(own.ok()) << own.sentence();
  EXPECT_EQ(own->pages, PageKind::kSmall);
  auto peer = map_peer_memory(getpid(), own->fd, inode_of(own->fd), 1 << 20);
  ASSERT_TRUE(peer.ok()) << peer.sentence();
  std::memset(peer->base + 5000, 0x5a, 100);
  EXPECT_EQ(own->base[5050], std::byte{0x5a});
  EXPECT_NE(own->base, peer->base);
  release_segment_memory(*peer);
  release_segment_memory(*own);
}

/// A pid of another namespace, or one that is used again, names something else here.
TEST(SegmentMemory, AnotherFileIsRefused) {
  auto own = create_segment_memory(1 << 20, SegmentPages::kNo);
  auto other = create_segment_memory(1 << 20, SegmentPages::kNo);
  ASSERT_TRUE(own.ok() && other.ok());
  const uint64_t inode = inode_of(own->fd);
  EXPECT_NE(inode, inode_of(other->fd));
  EXPECT_FALSE(map_peer_memory(getpid(), other->fd, inode, 1 << 20).ok());
  EXPECT_FALSE(map_peer_memory(getpid(), own->fd, inode, 2 << 20).ok()) << "it is shorter";
  release_segment_memory(*own);
  release_segment_memory(*other);
}

TEST(SegmentMemory, ZeroBytesIsAnEmptySegment_C1_082) {
  auto own = create_segment_memory(0, SegmentPages::kAuto);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->base, nullptr);
}

TEST(SegmentMemory, SaysWhatToDoWhenHugePagesAreMissing) {
  last_flags = 0;
  auto own = create_segment_memory(uint64_t{1} << 45, SegmentPages::kYes);
  EXPECT_EQ(last_flags & ~MFD_CLOEXEC, MFD_HUGETLB | MFD_HUGE_2MB) << "the kernel's default size";
  ASSERT_FALSE(own.ok());
  EXPECT_NE(own.sentence().find("nr_hugepages"), std::string::npos) << own.sentence();
}

TEST(SegmentMemory, LimitIsAShareOfTheHost_C1_093) {
  PinLimits limits;
  limits.available_bytes = uint64_t{8} << 30;
  EXPECT_EQ(segment_bytes_limit(1, limits), uint64_t{7} << 30);
  EXPECT_EQ(segment_bytes_limit(2, limits), uint64_t{7} << 29);
  limits.group_bytes = uint64_t{1} << 30;
  EXPECT_EQ(segment_bytes_limit(1, limits), (uint64_t{7} << 30) / 8);
  limits.group_bytes = 8 * 12345;
  EXPECT_EQ(segment_bytes_limit(1, limits) % 4096, 0u);
}

}  // namespace
}  // namespace pinwire

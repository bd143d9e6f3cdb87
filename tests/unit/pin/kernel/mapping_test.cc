// The kernel's list of this process's mappings.
#include "pin/kernel/mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/check.h"

namespace pinwire {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;

uint64_t map(uint64_t pages, int flags = kPrivate, int fd = -1) {
  void* base = mmap(nullptr, pages * kPageBytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  check(base != MAP_FAILED, "no memory", errno);
  return reinterpret_cast<uint64_t>(base);
}
void* pointer(uint64_t at) { return reinterpret_cast<void*>(at); }
bool is_found(uint64_t at) { return anonymous_mapping(at, at + kPageBytes).to != 0; }

TEST(Mapping, AMappingIsFoundWhole) {
  const uint64_t base = map(8);
  mprotect(pointer(base + 6 * kPageBytes), 2 * kPageBytes, PROT_NONE);
  mprotect(pointer(base), 2 * kPageBytes, PROT_NONE);
  const Mapping found = anonymous_mapping(base + 3 * kPageBytes, base + 4 * kPageBytes);
  EXPECT_EQ(found.from, base + 2 * kPageBytes);
  EXPECT_EQ(found.to, base + 6 * kPageBytes);
  EXPECT_EQ(anonymous_mapping(base + 5 * kPageBytes, base + 7 * kPageBytes).to, 0u);
  EXPECT_EQ(anonymous_mapping(~uint64_t{0} - 2 * kPageBytes, ~uint64_t{0}).to, 0u);
  munmap(pointer(base), 8 * kPageBytes);
}

TEST(Mapping, OfAFileIsNotAnonymousHoweverItIsMapped) {
  const int file = memfd_create("mapping_test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 4 * kPageBytes), 0);
  const uint64_t of_file = map(4, MAP_PRIVATE, file), shared = map(4, MAP_SHARED, file);
  EXPECT_FALSE(is_found(of_file));
  EXPECT_FALSE(is_found(shared));
  for (const uint64_t at : {of_file, shared}) munmap(pointer(at), 4 * kPageBytes);
  close(file);
}

/// More of them than one read brings, where the kernel answers questions, too.
TEST(Mapping, IsFoundAmongManyOthers) {
  constexpr uint64_t kCount = 200;
  const uint64_t base = map(2 * kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    mprotect(pointer(base + 2 * i * kPageBytes), kPageBytes, PROT_NONE);
  }
  for (uint64_t i = 0; i < 2 * kCount; ++i) {
    for (const auto& look : {anonymous_mapping, anonymous_mapping_in_text}) {
      const Mapping found = look(base + i * kPageBytes, base + (i + 1) * kPageBytes);
      EXPECT_EQ(found.to != 0, i % 2 != 0) << i;
      if (i % 2 != 0 && i + 1 != 2 * kCount) {
        EXPECT_EQ(found.from, base + i * kPageBytes);
        EXPECT_EQ(found.to, found.from + kPageBytes);
      }
    }
  }
  munmap(pointer(base), 2 * kCount * kPageBytes);
}

/// The kernel's answer is what it lists.
TEST(Mapping, IsTheSameByQuestionAndInText) {
  std::ifstream list("/proc/self/maps");
  std::vector<Mapping> all;
  for (std::string line; std::getline(list, line);) {
    Mapping one;
    ASSERT_EQ(std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &one.from, &one.to), 2) << line;
    all.push_back(one);
  }
  ASSERT_GT(all.size(), 5u);
  list.close();
  uint32_t anonymous = 0;
  for (const Mapping& one : all) {
    const Mapping asked = anonymous_mapping(one.from, one.from + kPageBytes);
    const Mapping read = anonymous_mapping_in_text(one.from, one.from + kPageBytes);
    EXPECT_EQ(asked.from, read.from) << std::hex << one.from;
    EXPECT_EQ(asked.to, read.to) << std::hex << one.from;
    if (asked.to != 0) ++anonymous;
  }
  EXPECT_GT(anonymous, 0u);
  EXPECT_LT(anonymous, all.size());
}

uint64_t bytes_read_by_this_process() {
  std::ifstream io("/proc/self/io");
  std::string word;
  uint64_t bytes = 0;
  return io >> word >> bytes ? bytes : 0;
}

/// A look takes as long as a page fault, however many mappings there are.
TEST(Mapping, IsFoundWithoutReadingTheOthers) {
  constexpr uint64_t kCount = 1000, kLooks = 20, kBytesMax = 16 << 10;
  utsname kernel{};
  int version = 0, part = 0;
  ASSERT_EQ(uname(&kernel), 0);
  ASSERT_EQ(std::sscanf(kernel.release, "%d.%d", &version, &part), 2);
  if (version < 6 || (version == 6 && part < 11)) GTEST_SKIP() << "this kernel only lists them";
  const uint64_t base = map(2 * kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    mprotect(pointer(base + 2 * i * kPageBytes), kPageBytes, PROT_NONE);
  }
  const auto on_stack = reinterpret_cast<uint64_t>(&kernel) / kPageBytes * kPageBytes;
  const uint64_t before = bytes_read_by_this_process();
  if (before == 0) GTEST_SKIP() << "this kernel does not count what is read";
  for (uint64_t i = 0; i < kLooks; ++i) EXPECT_TRUE(is_found(on_stack));
  EXPECT_LT(bytes_read_by_this_process() - before, kBytesMax);
  munmap(pointer(base), 2 * kCount * kPageBytes);
}

/// Signals interrupt reads; that one was interrupted before says nothing of the end of the list.
TEST(MappingDeathTest, AnEarlierErrorKeepsNobodyReading) {
  EXPECT_EXIT(
      {
        alarm(60);
        errno = EINTR;
        _exit(is_found(~uint64_t{0} - 2 * kPageBytes) ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(MappingDeathTest, AFileMayHaveAnyNumberOrNone) {
  EXPECT_EXIT(
      {
        alarm(60);
        const uint64_t base = map(1);
        close(0);  // the list is opened as the lowest number that is free
        const bool is_found_at_0 = is_found(base);
        const rlimit none{};
        setrlimit(RLIMIT_NOFILE, &none);
        _exit(is_found_at_0 && !is_found(base) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pinwire

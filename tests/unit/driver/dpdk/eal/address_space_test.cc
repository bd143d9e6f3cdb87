#include "driver/dpdk/eal/address_space.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

namespace pinwire {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

/// Bytes of address space that this process has.
uint64_t mapped_bytes() {
  unsigned long long pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * 4096;
}

/// In a child, which may map `left` more.
[[noreturn]] void say_whether_it_may_map(uint64_t peer_bytes, uint64_t left) {
  const rlimit limit{mapped_bytes() + left, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  for (int again = 0; again < 3; ++again) {
    const Status room = leave_address_space_for(peer_bytes);
    if (!address_space_is_limited()) std::exit(2);
    if (room) continue;  // and it has not kept what it tried
    std::fprintf(stderr, "%s\n", room.sentence().c_str());
    std::exit(1);
  }
  std::exit(0);
}

TEST(AddressSpace, SaysWhichLimitLeavesNoneForThePeersMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's memory is above any limit of address space";
#endif
  if (address_space_is_limited()) GTEST_SKIP() << "ulimit -v is set here";
  EXPECT_EXIT(say_whether_it_may_map(60 * kMiB, 40 * kMiB), testing::ExitedWithCode(1),
              "maps 60 MiB of another rank's memory.*raise the limit of address space \\(ulimit "
              "-v\\)");
  EXPECT_EXIT(say_whether_it_may_map(60 * kMiB, 64 * kMiB), testing::ExitedWithCode(1), "ulimit -v")
      << "the port's threads need some, too";
  EXPECT_EXIT(say_whether_it_may_map(60 * kMiB, 100 * kMiB), testing::ExitedWithCode(0), "^$");
}

TEST(AddressSpace, VhostsLogTellsThatThereWasNone) {
  EXPECT_TRUE(
      lacked_address_space("VHOST_CONFIG: (pair.sock) mmap failed (Cannot allocate memory)."));
  EXPECT_FALSE(lacked_address_space("EAL: mmap failed: Invalid argument"));
  EXPECT_FALSE(lacked_address_space("EAL: mmap failed (Cannot allocate memory)"));
  EXPECT_FALSE(lacked_address_space(
      "VHOST_CONFIG: (pair.sock) closed; EAL: mmap failed (Cannot allocate memory)"));
  EXPECT_TRUE(lacked_address_space(
      "EAL: no huge pages; VHOST_CONFIG: (pair.sock) mmap failed (Cannot allocate memory)."));
  EXPECT_TRUE(lacked_address_space(
      "EAL: mmap failed (Cannot allocate memory); VHOST_CONFIG: (pair.sock) mmap failed (Cannot "
      "allocate memory)."));
  EXPECT_FALSE(lacked_address_space(""));
}

}  // namespace
}  // namespace pinwire

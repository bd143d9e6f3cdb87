#include "core/base/files/file_size.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

namespace pinwire {
namespace {

constexpr uint64_t kLimitBytes = 65536;

/// In a process of its own, as it lowers its limit.
int resize_under_limit(uint64_t bytes) {
  const rlimit limit{kLimitBytes, kLimitBytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return -1;
  const int fd = memfd_create("file_size_test", MFD_CLOEXEC);
  return resize_file(fd, bytes) == 0 ? 0 : errno;
}

TEST(FileSize, AboveTheLimitIsAnErrorAndNoSignal) {
  EXPECT_EXIT(_exit(resize_under_limit(kLimitBytes)), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(_exit(resize_under_limit(kLimitBytes + 1)), testing::ExitedWithCode(EFBIG), "^$");
}

TEST(FileSize, IsBoundByNothingElse) {
  const int fd = memfd_create("file_size_test", MFD_CLOEXEC);
  ASSERT_TRUE(may_have_file_of(kLimitBytes));
  EXPECT_EQ(resize_file(fd, kLimitBytes), 0);
  EXPECT_EQ(lseek(fd, 0, SEEK_END), static_cast<off_t>(kLimitBytes));
  close(fd);
}

}  // namespace
}  // namespace pinwire

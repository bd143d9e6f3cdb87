#include "core/base/files/standard_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

namespace pinwire {
namespace {

bool is_null_device(int fd) {
  struct stat here {
  }, null{};
  return ::fstat(fd, &here) == 0 && ::stat("/dev/null", &null) == 0 && here.st_rdev == null.st_rdev;
}

/// In a process of its own, which loses the standard files that `closed` names. Bit n of its exit
/// code: descriptor n is /dev/null then; bit 3: a file that is opened later gets such a number.
int null_devices_after_closing(const std::vector<int>& closed) {
  // The process may have other descriptors open: they are in nobody's way.
  ::close_range(3, ~0U, 0);
  for (const int fd : closed) ::close(fd);
  open_standard_files();
  const int next = ::open("/", O_RDONLY);
  int code = next <= STDERR_FILENO ? 8 : 0;
  code |= next > STDERR_FILENO + 1 ? 16 : 0;  // it has left one open
  for (const int fd : closed) code |= is_null_device(fd) ? 1 << fd : 0;
  return code;
}

TEST(StandardFiles, TheClosedOnesBecomeTheNullDevice) {
  EXPECT_EXIT(::_exit(null_devices_after_closing({})), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(::_exit(null_devices_after_closing({0})), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(::_exit(null_devices_after_closing({1})), testing::ExitedWithCode(2), "");
  EXPECT_EXIT(::_exit(null_devices_after_closing({0, 2})), testing::ExitedWithCode(5), "");
  EXPECT_EXIT(::_exit(null_devices_after_closing({0, 1, 2})), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace pinwire

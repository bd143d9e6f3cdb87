#include "core/base/descriptors/event_fd.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace pinwire {
namespace {

bool is_readable(int fd) {
  pollfd file{fd, POLLIN, 0};
  return poll(&file, 1, 0) == 1;
}

TEST(EventFd, IsReadableFromARingToADrain) {
  const int fd = open_event_fd();
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(is_readable(fd));
  ring_event_fd(fd);
  ring_event_fd(fd);
  EXPECT_TRUE(is_readable(fd));
  drain_event_fd(fd);
  EXPECT_FALSE(is_readable(fd));
  drain_event_fd(fd);  // of nothing: it does not wait
  close(fd);
}

TEST(EventFd, AFullOneStaysReadable) {
  const int fd = open_event_fd();
  ASSERT_GE(fd, 0);
  const uint64_t most = ~uint64_t{0} - 1;
  ASSERT_EQ(write(fd, &most, sizeof most), static_cast<ssize_t>(sizeof most));
  ring_event_fd(fd);
  EXPECT_TRUE(is_readable(fd));
  drain_event_fd(fd);
  EXPECT_FALSE(is_readable(fd));
  close(fd);
}

TEST(TimespecOfUs, SplitsSeconds) {
  static_assert(timespec_of_us(0).tv_sec == 0 && timespec_of_us(0).tv_nsec == 0);
  static_assert(timespec_of_us(999'999).tv_nsec == 999'999'000);
  static_assert(timespec_of_us(2'000'001).tv_sec == 2 && timespec_of_us(2'000'001).tv_nsec == 1000);
  EXPECT_EQ(timespec_of_us(~0u).tv_sec, 4294);
}

}  // namespace
}  // namespace pinwire

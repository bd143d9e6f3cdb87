#include "driver/dpdk/switch/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace pinwire {
namespace {

SwitchOptions options_of(uint32_t ports, uint32_t queues) {
  SwitchOptions options;
  options.ports = ports;
  options.queues = queues;
  return options;
}

TEST(OpenFiles, OfEachPortAndQueue) {
  // As counted of a switch whose ranks have all joined: 47 files with 4 ports, 79 with 8.
  EXPECT_GE(open_files_of(options_of(4, 1)), 47U);
  EXPECT_GE(open_files_of(options_of(8, 1)), 79U);
  EXPECT_GE(open_files_of(options_of(8, 4)), 79U + 8 * 3 * 4);
}

/// In a process of its own, as it changes its limits. 0: the process may open `count` files then.
int let_under(rlim_t soft, rlim_t hard, uint64_t count) {
  rlimit limit{soft, hard};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  if (!let_open_files(count)) return 2;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return limit.rlim_cur >= count && limit.rlim_max == hard ? 0 : 3;
}

TEST(OpenFiles, AreLetAsFarAsTheProcessMay) {
  EXPECT_EXIT(_exit(let_under(64, 256, 64)), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(_exit(let_under(64, 256, 256)), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(_exit(let_under(64, 256, 257)), testing::ExitedWithCode(2), "^$");
}

TEST(OpenFiles, SayWhichLimit) {
  const Status status = let_open_files(uint64_t{1} << 40);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.sentence().find("ulimit -n"), std::string::npos) << status.sentence();
}

}  // namespace
}  // namespace pinwire

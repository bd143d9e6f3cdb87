#include "driver/dpdk/new_descriptors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace pinwire {
namespace {

/// In a child, whose limit it is.
[[noreturn]] void say_whether_it_may_open(rlim_t limit_files, uint32_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const NewDescriptors now;
  limit.rlim_cur = limit_files;
  setrlimit(RLIMIT_NOFILE, &limit);
  const Status room = now.leave_room_for(count);
  std::fprintf(stderr, "%s\n", room.ok() ? "room" : room.sentence().c_str());
  std::exit(room.ok() ? 0 : 1);
}

TEST(NewDescriptors, SaysWhatItWantsWhereTheLimitOfOpenFilesIsTooLow) {
  EXPECT_EXIT(say_whether_it_may_open(20, 24), testing::ExitedWithCode(1),
              "DPDK opens up to 24 files here, and this process, which has [0-9]+ open, may have "
              "20: raise the limit of open files \\(ulimit -n\\)");
  EXPECT_EXIT(say_whether_it_may_open(24, 24), testing::ExitedWithCode(1), "may have 24");
  EXPECT_EXIT(say_whether_it_may_open(1024, 24), testing::ExitedWithCode(0), "room");
}

}  // namespace
}  // namespace pinwire

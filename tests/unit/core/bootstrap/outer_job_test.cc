// Whose rank a process is that inherits the words of two launchers.
#include "core/bootstrap/outer_job.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace pinwire {
namespace {

class OuterJob : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"PMIX_NAMESPACE", "PMIX_RANK", "GASNET_JOB_PMIX", "GASNET_JOB_FD",
                             "GASNET_JOB_DIR", "GASNET_JOB_RANK"})
      ::unsetenv(name);
  }
  static void pmix(const char* space, const char* rank) {
    ::setenv("PMIX_NAMESPACE", space, 1);
    ::setenv("PMIX_RANK", rank, 1);
  }
  static std::string process() {
    return pmix_process([](const char* name) { return std::getenv(name); });
  }
};

TEST_F(OuterJob, ARankOfTheLauncherIsItsOwn) {
  ::setenv("GASNET_JOB_PMIX", process().c_str(), 1);
  EXPECT_FALSE(is_of_inner_job());
}

TEST_F(OuterJob, ALauncherInsideOfMpirunIsTheNearer) {
  pmix("job-1", "0");
  ::setenv("GASNET_JOB_PMIX", process().c_str(), 1);
  EXPECT_FALSE(is_of_inner_job());
}

TEST_F(OuterJob, MpirunInsideOfALauncherIsTheNearer) {
  ::setenv("GASNET_JOB_PMIX", process().c_str(), 1);
  pmix("job-1", "0");
  EXPECT_TRUE(is_of_inner_job());
}

TEST_F(OuterJob, TheInnermostOfThreeCounts) {
  pmix("job-1", "0");
  ::setenv("GASNET_JOB_PMIX", process().c_str(), 1);
  pmix("job-2", "0");
  EXPECT_TRUE(is_of_inner_job());
  pmix("job-1", "1");
  EXPECT_TRUE(is_of_inner_job());
}

TEST_F(OuterJob, WithoutALauncherThereIsNoOuterOne) {
  pmix("job-1", "0");
  EXPECT_FALSE(is_of_inner_job());
}

TEST_F(OuterJob, NothingOfItStaysButWhatTheUserNames) {
  ::setenv("GASNET_JOB_FD", "8", 1);
  ::setenv("GASNET_JOB_RANK", "1", 1);
  ::setenv("GASNET_JOB_PMIX", "", 1);
  ::setenv("GASNET_JOB_DIR", "/somewhere/pinwire-job-AbCdEf", 1);
  leave_outer_job();
  for (const char* name : {"GASNET_JOB_FD", "GASNET_JOB_RANK", "GASNET_JOB_PMIX", "GASNET_JOB_DIR"})
    EXPECT_EQ(std::getenv(name), nullptr) << name;
  ::setenv("GASNET_JOB_DIR", "/somewhere/of-mine", 1);
  leave_outer_job();
  EXPECT_STREQ(std::getenv("GASNET_JOB_DIR"), "/somewhere/of-mine");
}

}  // namespace
}  // namespace pinwire

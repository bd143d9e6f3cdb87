// What a launcher removes of jobs whose launcher and janitor were both killed, and what it leaves.
#include "core/launch/job_dir.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/launch/process_facts.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/core/launch/start_program.h"

namespace pinwire::launch {
namespace {

class StaleDirs : public testing::Test {
 protected:
  void make(const std::string& name) const {
    ASSERT_EQ(::mkdir((parent_ + "/" + name).c_str(), 0700), 0);
    std::ofstream(parent_ + "/" + name + "/file") << "something";
  }
  bool there(const std::string& name) const {
    return std::filesystem::exists(parent_ + "/" + name);
  }
  const test::ScratchDir scratch_;
  const std::string parent_ = scratch_.path();
};

TEST_F(StaleDirs, ThoseThatNobodyLocksGo) {
  make("pinwire-job-abcdef");
  remove_stale_job_dirs(parent_);
  EXPECT_FALSE(there("pinwire-job-abcdef"));
}

TEST_F(StaleDirs, ThoseOfRunningJobsStay) {
  auto job = make_job_dir(parent_, false);
  ASSERT_TRUE(job.ok()) << job.sentence();
  remove_stale_job_dirs(parent_);
  EXPECT_TRUE(std::filesystem::exists(job->path));
  ::close(job->lock_fd);
  remove_stale_job_dirs(parent_);
  EXPECT_FALSE(std::filesystem::exists(job->path));
}

/// They hold up the start of no job.
TEST_F(StaleDirs, ThoseOfRanksGoByThemselves) {
  for (const char* name : {"pinwire-ranks-abcdef", "pinwire-eal-A1b2C3", "pinwire-job-abcdef"})
    make(name);
  remove_stale_rank_dirs(parent_);
  EXPECT_FALSE(there("pinwire-ranks-abcdef"));
  EXPECT_FALSE(there("pinwire-eal-A1b2C3"));
  EXPECT_TRUE(there("pinwire-job-abcdef"));
  make("pinwire-eal-A1b2C3");
  remove_stale_job_dirs(parent_);
  EXPECT_TRUE(there("pinwire-eal-A1b2C3"));
}

/// Two looks at all of /proc for each would be in vain.
TEST_F(StaleDirs, NoProcessIsLookedForByThoseOfRanks) {
  make("pinwire-eal-A1b2C3");
  auto started = start_program(
      {.path = "/bin/sleep",
       .arguments = {"sleep", "1000"},
       .environment = {"GASNET_JOB_DIR=" + std::filesystem::canonical(parent_).string() +
                       "/pinwire-eal-A1b2C3"}});
  ASSERT_TRUE(started.ok()) << started.sentence();
  remove_stale_rank_dirs(parent_);
  EXPECT_FALSE(there("pinwire-eal-A1b2C3"));
  EXPECT_FALSE(has_ended(started->number()));
  started->signal(SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(started->wait()));
}

TEST_F(StaleDirs, WhatIsToBeKeptIsKept) {
  auto job = make_job_dir(parent_, true);
  ASSERT_TRUE(job.ok()) << job.sentence();
  ::close(job->lock_fd);
  remove_stale_job_dirs(parent_);
  EXPECT_FALSE(std::filesystem::exists(job->path));
  EXPECT_TRUE(there("pinwire-kept-" + job->path.substr(job->path.size() - 6)));
}

TEST_F(StaleDirs, OthersMayUseOurName) {
  for (const char* name :
       {"pinwire-source", "pinwire-abcdef", "pinwire-job-abcdefg", "pinwire-job"})
    make(name);
  std::ofstream(parent_ + "/pinwire-job-abcdef") << "a file, no directory";
  remove_stale_job_dirs(parent_);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(parent_), {}), 5);
  EXPECT_TRUE(there("pinwire-source/file"));
}

}  // namespace
}  // namespace pinwire::launch

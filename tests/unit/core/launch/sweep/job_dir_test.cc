// Directories that a launcher removes, or leaves, of jobs whose launcher and janitor were both
// killed.
#include "core/launch/sweep/job_dir.h"

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/launch/process/process_facts.h"
#include "tests/support/left_dir.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/core/launch/start_program.h"

namespace pinwire::launch {
namespace {

int looks_at_proc = 0;  // so many times was the list of all processes opened

class StaleDirs : public testing::Test {
 protected:
  /// One whose maker was killed; its path.
  std::string leave(std::string_view start) const {
    const auto path = test::leave_dir(parent_, start);
    std::ofstream(path + "/file") << "something";
    return path;
  }
  void remove_stale_job_dirs() const { finish_left_over(kill_stale_jobs(parent_)); }
  bool there(const std::string& name) const {
    return std::filesystem::exists(parent_ + "/" + name);
  }
  static Result<ChildProcess> start_rank(const std::string& job_dir) {
    return start_program({.path = "/bin/sleep",
                          .arguments = {"sleep", "1000"},
                          .environment = {"GASNET_JOB_DIR=" + job_dir}});
  }
  const test::ScratchDir scratch_;
  const std::string parent_ = scratch_.path();
};

TEST_F(StaleDirs, ThoseThatNobodyLocksGo) {
  const auto left = leave(kJobDirStart);
  remove_stale_job_dirs();
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(StaleDirs, ThoseOfRunningJobsStay) {
  auto job = make_job_dir(parent_, false);
  ASSERT_TRUE(job.ok()) << job.sentence();
  remove_stale_job_dirs();
  EXPECT_TRUE(std::filesystem::exists(job->path));
  ::close(job->lock_fd);
  remove_stale_job_dirs();
  EXPECT_FALSE(std::filesystem::exists(job->path));
}

/// However many they are, all processes are looked at as often as for one.
TEST_F(StaleDirs, ProcessesOfManyAreLookedForAtOnce) {
  auto running = make_job_dir(parent_, false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  std::vector<std::string> left;
  for (int i = 0; i < 100; ++i) left.push_back(leave(i % 2 == 0 ? kJobDirStart : kKeepDirStart));
  auto first = start_rank(left.front()), last = start_rank(left.back()),
       other = start_rank(running->path);
  ASSERT_TRUE(first.ok() && last.ok() && other.ok());
  looks_at_proc = 0;
  EXPECT_EQ(kill_stale_jobs(parent_).size(), left.size());
  EXPECT_LE(looks_at_proc, 20);
  EXPECT_TRUE(std::filesystem::exists(left.front())) << "it is removed later";
  EXPECT_TRUE(WIFSIGNALED(end_of(*first)));
  EXPECT_TRUE(WIFSIGNALED(end_of(*last)));
  EXPECT_FALSE(has_ended(other->number()));
  other->signal(SIGKILL);
  end_of(*other);
  ::close(running->lock_fd);
}

/// They hold up the start of no job.
TEST_F(StaleDirs, ThoseOfRanksGoByThemselves) {
  const auto ranks = leave(kRanksDirStart), eal = leave(kEalDirStart), job = leave(kJobDirStart);
  remove_stale_rank_dirs(parent_);
  EXPECT_FALSE(std::filesystem::exists(ranks));
  EXPECT_FALSE(std::filesystem::exists(eal));
  EXPECT_TRUE(std::filesystem::exists(job));
  const auto more = leave(kEalDirStart);
  remove_stale_job_dirs();
  EXPECT_TRUE(std::filesystem::exists(more));
}

/// Two looks at all of /proc for each would be in vain.
TEST_F(StaleDirs, NoProcessIsLookedForByThoseOfRanks) {
  const auto left = leave(kEalDirStart);
  auto started = start_rank(left);
  ASSERT_TRUE(started.ok()) << started.sentence();
  remove_stale_rank_dirs(parent_);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_FALSE(has_ended(started->number()));
  started->signal(SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(end_of(*started)));
}

TEST_F(StaleDirs, WhatIsToBeKeptIsKept) {
  auto job = make_job_dir(parent_, true);
  ASSERT_TRUE(job.ok()) << job.sentence();
  std::ofstream(job->path + "/file") << "something";
  ::close(job->lock_fd);
  remove_stale_job_dirs();
  EXPECT_FALSE(std::filesystem::exists(job->path));
  EXPECT_TRUE(there("pinwire-kept-" + job->path.substr(job->path.size() - kDirLetters) + "/file"));
}

TEST_F(StaleDirs, OthersMayUseOurName) {
  const char* const names[] = {"pinwire-source", "pinwire-job-output", "pinwire-job-outputoutput",
                               "pinwire-job"};
  for (const char* name : names) std::filesystem::create_directory(parent_ + "/" + name);
  std::ofstream(parent_ + "/pinwire-job-abcdefabcdef") << "a file, no directory";
  remove_stale_job_dirs();
  for (const char* name : names) EXPECT_TRUE(there(name)) << name;
  EXPECT_TRUE(there("pinwire-job-abcdefabcdef"));
}

}  // namespace
}  // namespace pinwire::launch

/// Instead of the C library's, for this program.
DIR* opendir(const char* path) {
  if (std::strcmp(path, "/proc") == 0) ++pinwire::launch::looks_at_proc;
  const auto real = reinterpret_cast<DIR* (*)(const char*)>(::dlsym(RTLD_NEXT, "opendir"));
  return real(path);
}

// Which processes carry the mark of a job: also those that have lost, or hide, their environment.
#include "core/launch/process/job_mark.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "core/launch/process/process.h"
#include "core/launch/process/process_facts.h"
#include "tests/unit/core/launch/start_program.h"

namespace pinwire::launch {
namespace {

constexpr const char* kMarkedDir = "/nowhere/pinwire-job-marked";
const std::string kMarkedAssignment = std::string("GASNET_JOB_DIR=") + kMarkedDir;

const std::array<std::string, 3> kMany = {std::string(kMarkedDir) + "2", kMarkedDir, ""};

/// A shell's command, which ends with this.
class Shell {
 public:
  Shell(const std::string& command, std::vector<std::string> environment) {
    auto made = start_program({.path = "/bin/sh",
                               .arguments = {"sh", "-c", command},
                               .environment = std::move(environment)});
    EXPECT_TRUE(made.ok()) << made.sentence();
    if (made) process_ = std::move(*made);
  }
  ~Shell() {
    process_.signal(SIGKILL);
    end_of(process_);
  }
  Shell(const Shell&) = delete;
  pid_t number() const { return process_.number(); }
  void await_name(const char* name) const {
    while (name_of(number()) != name) ::usleep(1000);
  }
  /// In the middle of an execve(2) no environment shows. False after some 30 s.
  bool comes_to_carry(const JobMark& mark) const {
    for (int tries = 0; tries < 30'000; ++tries, ::usleep(1000))
      if (mark.is_on(number())) return true;
    return false;
  }

 private:
  ChildProcess process_;
};

TEST(JobMark, AProcessOfTheJobCarriesItAndNoOther) {
  const JobMark mark(kMarkedDir);
  const Shell marked("exec sleep 1000", {kMarkedAssignment}), other("exec sleep 1000", {});
  EXPECT_TRUE(mark.is_on(marked.number()));
  EXPECT_TRUE(JobMarks(kMany).any_is_on(marked.number()));
  EXPECT_FALSE(JobMarks(kMany).any_is_on(other.number()));
  EXPECT_FALSE(JobMark(std::string(kMarkedDir) + "2").is_on(marked.number()));
  EXPECT_FALSE(mark.is_on(other.number()));
  EXPECT_FALSE(JobMark::in({"A=b"}).is_on(other.number()));
}

TEST(JobMark, AnEmptyNameMarksNothing) {
  const Shell emptied("exec sleep 1000", {"GASNET_JOB_DIR="});
  EXPECT_FALSE(JobMark("").is_on(emptied.number()));
  EXPECT_FALSE(JobMarks(std::array{std::string()}).any_is_on(emptied.number()));
  EXPECT_FALSE(JobMark::in({"GASNET_JOB_DIR="}).is_on(emptied.number()));
}

TEST(JobMark, ItOutlivesAnotherProgramWithoutAnEnvironment) {
  const Shell marked("exec env -i sleep 1000", {kMarkedAssignment});
  marked.await_name("sleep");
  EXPECT_FALSE(has_in_environment(marked.number(), kMarkedAssignment));
  EXPECT_TRUE(JobMark(kMarkedDir).is_on(marked.number()));
  EXPECT_TRUE(JobMarks(kMany).any_is_on(marked.number()));
}

TEST(JobMark, ALimitThatTheUserHasSetStays) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_RTTIME, &before), 0);
  const rlimit short_one{300'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_RTTIME, &short_one), 0);
  {
    const Shell marked("exec sleep 1000", {kMarkedAssignment});
    rlimit limit{};
    ASSERT_EQ(::prlimit(marked.number(), RLIMIT_RTTIME, nullptr, &limit), 0);
    EXPECT_EQ(limit.rlim_cur, short_one.rlim_cur);
    EXPECT_TRUE(marked.comes_to_carry(JobMark(kMarkedDir))) << "by its environment";
    EXPECT_TRUE(JobMarks(kMany).any_is_on(marked.number()));
  }
  ::setrlimit(RLIMIT_RTTIME, &before);
}

/// An administrator may allow no real-time class to run for long.
TEST(JobMark, WhereTheLimitMayNotBeRaisedTheEnvironmentHasToDo) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit low{200'000, 200'000};
    ::setrlimit(RLIMIT_RTTIME, &low);
    const Shell marked("exec sleep 1000", {kMarkedAssignment});
    marked.await_name("sleep");
    const bool is_right = real_time_limit_us(marked.number()) == low.rlim_cur &&
                          marked.comes_to_carry(JobMark(kMarkedDir));
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(JobMark, ItLimitsNothing) {
  const Shell marked("exec sleep 1000", {kMarkedAssignment});
  constexpr uint64_t kYearUs = uint64_t{365} * 24 * 3600 * 1'000'000;
  EXPECT_GT(real_time_limit_us(marked.number()), 50'000 * kYearUs);
  rlimit limit{};
  ASSERT_EQ(::prlimit(marked.number(), RLIMIT_RTTIME, nullptr, &limit), 0);
  rlimit own{};
  ::getrlimit(RLIMIT_RTTIME, &own);
  EXPECT_EQ(limit.rlim_max, own.rlim_max) << "the hard limit stays";
}

constexpr int kCarriesItsOwn = 77;

/// A launcher that is a rank of another job forks it so.
TEST(JobMark, AJanitorCarriesItsOwnAlone) {
  auto made = start_program(
      {.path = "/proc/self/exe",
       .arguments = {"unit_launch", "--gtest_filter=*JanitorAlone",
                     "--gtest_also_run_disabled_tests", "--gtest_brief=1"},
       .environment = {"LOST=" + std::string(60, '1'), "A=1", kMarkedAssignment, "B=2"},
       .stdout_fd = 2});
  ASSERT_TRUE(made.ok()) << made.sentence();
  EXPECT_EQ(WEXITSTATUS(end_of(*made)), kCarriesItsOwn);
}

/// The test before it runs this one, as a program with another environment.
TEST(JobMark, DISABLED_JanitorAlone) {
  const pid_t self = ::getpid();
  const JobMark job(kMarkedDir), janitor = JobMark::of_janitor(self);
  ASSERT_TRUE(job.is_on(self));
  ASSERT_TRUE(has_in_environment(self, kMarkedAssignment));
  EXPECT_FALSE(janitor.is_on(self));
  janitor.replace_on_self();
  EXPECT_TRUE(janitor.is_on(self));
  EXPECT_FALSE(job.is_on(self));
  EXPECT_TRUE(has_in_environment(self, "A=1") && has_in_environment(self, "B=2"));
  EXPECT_FALSE(JobMark::of_janitor(::getppid()).is_on(self));
  const rlimit low{200'000, 200'000};
  ASSERT_EQ(::setrlimit(RLIMIT_RTTIME, &low), 0);
  EXPECT_TRUE(janitor.is_on(self)) << "by its environment";
  if (!HasFailure()) ::_exit(kCarriesItsOwn);
}

}  // namespace
}  // namespace pinwire::launch

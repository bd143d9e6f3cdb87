// Ranks whose program has more rights than its user, as programs for verbs and DPDK often do: the
// kernel forgets what the launcher asked for them, and hides their environment from it.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/job/launch/launch_fixture.h"
#include "tests/job/launch/ordinary_user.h"

namespace pinwire_test {
namespace {

constexpr gid_t kForeignGroup = 770003;  // of nobody

class MoreRights : public Launch {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a program to another group";
    if (const auto why = why_no_rights(programs_); !why.empty()) GTEST_SKIP() << why;
    std::filesystem::copy_file(rank_, program_);
    ASSERT_EQ(::chown(program_.c_str(), 0, kForeignGroup), 0);
    ASSERT_EQ(::chmod(program_.c_str(), 02755), 0);
    for (const Folder* one : {&programs_, &folder_, &said_})
      ASSERT_EQ(::chmod(one->path().c_str(), 01777), 0);
    const auto probe = run(as_user(command(1, {"true"})), environment());
    if (probe.code != 0) GTEST_SKIP() << "another user cannot run the launcher: " << probe.err;
  }
  std::string said() const {
    std::ifstream file(said_.path() + "/words");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Folder programs_, said_;
  const std::string program_ = programs_.path() + "/rank";
};

TEST_F(MoreRights, RanksEndWithAKilledLauncher) {
  const auto words = std::vector<std::string>{
      "sh", "-c", "exec \"$0\" one 5 kill 2>> " + said_.path() + "/words",  // there is no rank 5
      program_};
  Running job(as_user(command(2, words)), environment());
  ASSERT_TRUE(job.wait_for("ready", 2)) << job.err() << said();
  // The janitor would be as fast.
  const int janitor = janitor_of(job.process());
  ASSERT_GT(janitor, 1);
  ::kill(janitor, SIGKILL);
  ::kill(job.process(), SIGKILL);
  EXPECT_TRUE(gone(mark_, kGoneSeconds));
  for (const auto& left : entries(folder_.path(), "pinwire-job-"))
    std::filesystem::remove_all(folder_.path() + "/" + left);
  EXPECT_EQ(count_of(said(), "the launcher (gasnetrun_pinwire) is gone: this rank ends\n"), 2)
      << said();
}

/// Nobody but root may read whose environment theirs is, and none of them watches the launcher.
TEST_F(MoreRights, OrphansOfRanksEndWithAKilledLauncher) {
  Running job(as_user(command(2, {program_, "orphan"})), environment());
  ASSERT_TRUE(job.wait_for("waiting", 2)) << job.err();
  ::kill(job.process(), SIGKILL);
  EXPECT_TRUE(gone(mark_, kGoneSeconds));
}

TEST_F(MoreRights, OrphansOfRanksEndWithAJobWhoseLauncherHadChildrenBefore) {
  const auto job = as_user(command(2, {program_, "orphan", "0"}));
  const auto outcome =
      run(in_shell("sleep 1000 >/dev/null 2>&1 & echo $!; exec \"$@\"", job), environment());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const int monitor = std::atoi(outcome.out.c_str());
  EXPECT_EQ(processes_with(mark_), std::vector<int>{monitor});
  if (monitor > 1) ::kill(monitor, SIGKILL);
}

/// Ends a job whose rank acts for another user, as by sudo or as a set-user-ID program that takes
/// all of its owner's rights.
class RanksOfAnotherUser : public MoreRights {
 protected:
  Outcome end_job(const std::vector<std::string>& options);
};

Outcome RanksOfAnotherUser::end_job(const std::vector<std::string>& options) {
  const auto becomes = programs_.path() + "/becomes";
  std::filesystem::copy_file("/usr/bin/setpriv", becomes);
  EXPECT_EQ(::chmod(becomes.c_str(), 04755), 0);
  const std::vector<std::string> rank = {becomes,
                                         "--reuid=0",
                                         "--regid=0",
                                         "--clear-groups",
                                         "sh",
                                         "-c",
                                         "echo waiting; exec sleep 1000"};
  Running job(as_user(command(1, rank, options)),
              environment({"GASNET_EXITTIMEOUT=0.5",
                           std::string("GASNET_SSH_CMD=") + std::getenv("FAKE_SSH")}));
  EXPECT_TRUE(job.wait_for("waiting", 1)) << job.err();
  ::kill(job.process(), SIGTERM);
  auto outcome = job.wait(kGoneSeconds);
  for (const int left : processes_with(mark_)) ::kill(left, SIGKILL);
  return outcome;
}

constexpr const char* kIsLeftAlone =
    ") cannot be killed, and is left alone: it acts for another user now";

TEST_F(RanksOfAnotherUser, AreNamedAndLeftAlone) {
  const auto outcome = end_job({});
  EXPECT_EQ(outcome.code, 128 + SIGTERM) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, kIsLeftAlone), 1) << outcome.err;
}

/// Their agent tells the launcher why.
TEST_F(RanksOfAnotherUser, AreNamedAndLeftAloneOnOtherHosts) {
  const auto outcome = end_job({"--hosts", "n7"});
  EXPECT_EQ(outcome.code, 128 + SIGTERM) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, std::string(" on n7") + kIsLeftAlone), 1) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "does not answer"), 0) << outcome.err;
}

TEST_F(MoreRights, RanksPassTheirFilesThroughASocket) {
  const auto outcome = run(as_user(command(3, {program_, "peer-file", "server"})), environment());
  EXPECT_EQ(outcome.out, "opened\nopened\nopened\n") << outcome.err;
}

TEST_F(MoreRights, RanksThatCannotShareMemoryAreToldWhy) {
  const auto hidden = run(as_user(command(2, {program_, "peer-file"})), environment());
  EXPECT_EQ(hidden.code, 0) << hidden.err;
  EXPECT_EQ(count_of(hidden.out, "Permission denied. This program has file capabilities"), 2)
      << hidden.out;
  const auto open = run(as_user(command(2, {rank_, "peer-file"})), environment());
  EXPECT_EQ(open.out, "opened\nopened\n") << open.err;
}

TEST_F(MoreRights, RanksOfAnUnreadableProgramAreToldWhy) {
  ASSERT_EQ(::chown(program_.c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(program_.c_str(), 0711), 0);
  const auto hidden = run(as_user(command(2, {program_, "peer-file"})), environment());
  EXPECT_EQ(hidden.code, 0) << hidden.err;
  EXPECT_EQ(count_of(hidden.out, "or its user may not read it: the kernel hides"), 2) << hidden.out;
}

TEST_F(MoreRights, AnOrderlyEndIsWithoutAWord) {
  const auto outcome = run(as_user(command(3, {program_, "gather", "100", "2"})), environment());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "launcher rank"), 3) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace pinwire_test

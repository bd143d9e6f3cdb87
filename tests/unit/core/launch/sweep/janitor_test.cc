// Whom a janitor kills: those that carry the job's directory in their environment, unless the
// launcher has seen to them; and whom it does not even look at.
#include "core/launch/sweep/janitor.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/files/remove_tree.h"
#include "core/base/log.h"
#include "core/launch/loop/signals.h"
#include "core/launch/process/job_mark.h"
#include "core/launch/process/process_facts.h"
#include "core/launch/sweep/job_dir.h"
#include "core/launch/sweep/sweep.h"
#include "tests/support/left_dir.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/core/launch/start_program.h"
#include "tests/unit/core/launch/wait_in_kernel.h"

namespace pinwire::launch {
namespace {

/// Janitors that are forked meanwhile wait in it for ever, as for a file server.
bool mkdir_is_stuck = false;
/// Janitors wait so before they remove a directory; or they, or all, cannot remove any.
bool mkdir_fails_beside_others = false;  // as where they have taken all space
bool removal_is_stuck = false, removal_fails = false;
/// A process beside a janitor removes nothing as long as this file is there.
std::string sweepers_gate;

void wait_for_gate() {
  char name[16] = "";
  ::prctl(PR_GET_NAME, name);
  while (std::string_view(name) == "pinwire-sweeper" && std::filesystem::exists(sweepers_gate))
    ::usleep(1000);
}

/// Janitors that are forked meanwhile wait in it for ever, in state D, when they sweep.
bool unlinkat_is_stuck = false;
const pid_t test_process = ::getpid();

/// A sweeper whose janitor was killed has nobody who ends it: it ends with the test program.
void stay_while(const bool& is_stuck) {
  constexpr timespec kBetween{0, 20'000'000};
  while (is_stuck) {
    if (::kill(test_process, 0) != 0) ::_exit(EXIT_FAILURE);
    ::nanosleep(&kBetween, nullptr);
  }
}
/// This process gets a SIGTERM when it calls lstat(2).
bool lstat_gets_signal = false;
/// The next so many calls of recvmsg(2) fail.
int failing_receptions = 0;

class JanitorTest : public testing::Test {
 protected:
  void start_rank() {
    auto started = start_program({.path = "/bin/sleep",
                                  .arguments = {"sleep", "1000"},
                                  .environment = {"GASNET_JOB_DIR=" + dir_}});
    ASSERT_TRUE(started.ok()) << started.sentence();
    rank_ = std::move(*started);
    rank_watch_ = loop_.watch_children(
        [this](pid_t process) { return process == rank_.number() && rank_.reap(); });
  }
  void TearDown() override {
    mkdir_is_stuck = removal_is_stuck = removal_fails = false;
    for (const pid_t stuck : children_now()) ::kill(stuck, SIGKILL);
    if (rank_.number() < 0) return;
    rank_.signal(SIGKILL);
    end_of(rank_);
  }
  /// Where dir_ is kept.
  std::string kept() const {
    return testing::TempDir() + std::string(kKeptDirStart) + dir_.substr(dir_.size() - kDirLetters);
  }
  /// The text that is printed meanwhile.
  static std::string words_of(const std::function<void()>& work) {
    static std::string words;
    words.clear();
    log_through([](std::string_view line) { words += line; });
    work();
    log_through(nullptr);
    return words;
  }
  static std::vector<std::string> leave_some(const std::string& parent) {
    std::vector<std::string> left;
    for (const auto start : {kJobDirStart, kJobDirStart, kEalDirStart, kRanksDirStart})
      left.push_back(test::leave_dir(parent, start));
    return left;
  }
  void expect_that_they_go(const std::vector<std::string>& left) {
    for (const auto& one : left) {
      EXPECT_TRUE(loop_.turn_until([&one] { return !std::filesystem::exists(one); }, 30'000))
          << one;
    }
  }
  bool rank_lives() { return !rank_.reap() && rank_.number() > 0; }
  /// It was killed; it may take a while to die.
  bool rank_dies() {
    return loop_.turn_until([this] { return rank_.number() < 0; }, 30'000);
  }
  // Another run of this test kills by its own alone.
  std::string dir_ = "/nowhere/pinwire-job-janits-" + std::to_string(::getpid());
  const bool signals_are_blocked_ = (block_signals(), true);
  SupervisorLoop loop_;
  ChildProcess rank_;
  SupervisorLoop::ChildWatch rank_watch_;
};

TEST_F(JanitorTest, KillsWhoCarriesTheDirectory) {
  start_rank();
  kill_processes_of(dir_ + "-of-another-job");
  EXPECT_TRUE(rank_lives());
  kill_processes_of(dir_);
  EXPECT_TRUE(rank_dies());
}

TEST_F(JanitorTest, DoesNotLookAtWhoWasThereBefore) {
  start_rank();
  kill_processes_of(dir_, UINT64_MAX);
  EXPECT_TRUE(rank_lives());
}

TEST_F(JanitorTest, KillsWhoWasBornAfterIt) {
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  dir_ = janitor.job_dir();
  start_rank();
  janitor.stop(false);
  EXPECT_TRUE(rank_dies());
  EXPECT_FALSE(std::filesystem::exists(dir_));
}

TEST_F(JanitorTest, LooksAtNobodyIfTheLauncherHasSeenToIt) {
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  dir_ = janitor.job_dir();
  start_rank();
  janitor.stop(true);
  EXPECT_TRUE(rank_lives());
  EXPECT_FALSE(std::filesystem::exists(dir_));
}

TEST_F(JanitorTest, OneThatWasKilledLeavesTheDirectoryToItsLauncher) {
  for (const bool keep : {true, false}) {
    auto running = Janitor::start_and_wait(loop_, testing::TempDir(), keep);
    ASSERT_TRUE(running.ok()) << running.sentence();
    Janitor& janitor = **running;
    dir_ = janitor.job_dir();
    std::ofstream(dir_ + "/file") << "something";
    HeldProcess(janitor.number()).signal(SIGKILL);
    janitor.stop(true);
    EXPECT_FALSE(std::filesystem::exists(dir_));
    EXPECT_EQ(std::filesystem::exists(kept()), keep);
    EXPECT_TRUE(remove_tree(kept()).ok());
  }
}

/// By the janitor or by the launcher.
TEST_F(JanitorTest, WhereADirectoryIsKeptIsSaid) {
  for (const bool is_killed : {false, true}) {
    auto running = Janitor::start_and_wait(loop_, testing::TempDir(), true);
    ASSERT_TRUE(running.ok()) << running.sentence();
    dir_ = (*running)->job_dir();
    std::ofstream(dir_ + "/file") << "something";
    ASSERT_EQ(::chmod(dir_.c_str(), 0), 0) << "as a rank may";
    if (is_killed) HeldProcess((*running)->number()).signal(SIGKILL);
    const auto words = words_of([&] { (*running)->stop(true); });
    EXPECT_NE(words.find("the job's directory is kept as " + kept() + " on host "),
              std::string::npos)
        << words;
    ASSERT_EQ(::chmod(kept().c_str(), 0700), 0);
    EXPECT_TRUE(std::filesystem::exists(kept() + "/file"));
    EXPECT_TRUE(remove_tree(kept()).ok());
  }
}

/// The file system may not answer.
TEST_F(JanitorTest, ASignalEndsALauncherThatLooksWhereADirectoryIsKept) {
  const test::ScratchDir parent;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);
    SupervisorLoop loop;
    auto running = Janitor::start_and_wait(loop, parent.path(), true);
    if (!running) ::_exit(1);
    lstat_gets_signal = true;
    (*running)->stop(true);
    ::_exit(0);
  }
  int wait_status = 0;
  ASSERT_EQ(::waitpid(child, &wait_status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGTERM) << wait_status;
}

TEST_F(JanitorTest, NothingIsKeptWhereThereIsNothing) {
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), true);
  ASSERT_TRUE(running.ok()) << running.sentence();
  dir_ = (*running)->job_dir();
  const auto words = words_of([&] { (*running)->stop(true); });
  EXPECT_NE(words.find("-k keeps nothing"), std::string::npos) << words;
  EXPECT_FALSE(std::filesystem::exists(dir_));
  EXPECT_FALSE(std::filesystem::exists(kept()));
}

TEST_F(JanitorTest, WhatCannotBeRemovedIsNamed) {
  removal_fails = true;
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  dir_ = (*running)->job_dir();
  const auto words = words_of([&] { (*running)->stop(true); });
  EXPECT_NE(
      words.find("files of the job stay: cannot remove " + dir_ + ": Operation not permitted"),
      std::string::npos)
      << words;
  removal_fails = false;
  EXPECT_TRUE(remove_tree(dir_).ok());
}

/// To remove what dead jobs left may take long.
TEST_F(JanitorTest, WhatIsLeftOverHoldsUpNoStart) {
  const test::ScratchDir scratch;
  const auto left = test::leave_dir(scratch.path(), kJobDirStart);
  removal_is_stuck = true;
  auto running = Janitor::start_and_wait(loop_, scratch.path(), false);
  removal_is_stuck = false;
  ASSERT_TRUE(running.ok()) << running.sentence();
  HeldProcess((*running)->number()).signal(SIGKILL);
  (*running)->stop(true);
  EXPECT_TRUE(std::filesystem::exists(left));
  EXPECT_FALSE(std::filesystem::exists((*running)->job_dir()));
}

TEST_F(JanitorTest, WhatIsLeftOverGoesAsWell) {
  const test::ScratchDir scratch;
  const auto left = leave_some(scratch.path());
  auto running = Janitor::start_and_wait(loop_, scratch.path(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  (*running)->stop(true);
  expect_that_they_go(left);
}

/// Nor an end; and it goes then.
TEST_F(JanitorTest, WhatIsLeftOverHoldsUpNoEnd) {
  const test::ScratchDir scratch;
  const auto left = leave_some(scratch.path());
  sweepers_gate = scratch.path() + "/gate";
  std::ofstream{sweepers_gate};
  auto running = Janitor::start_and_wait(loop_, scratch.path(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  (*running)->stop(true);
  EXPECT_FALSE(std::filesystem::exists((*running)->job_dir()));
  for (const auto& one : left) EXPECT_TRUE(std::filesystem::exists(one)) << one;
  std::filesystem::remove(sweepers_gate);
  expect_that_they_go(left);
}

/// A dead job may have taken all of a file system.
TEST_F(JanitorTest, WhatIsLeftOverGoesFirstWhereThereIsNoSpace) {
  const test::ScratchDir scratch;
  test::leave_dir(scratch.path(), kJobDirStart);
  mkdir_fails_beside_others = true;
  auto running = Janitor::start_and_wait(loop_, scratch.path(), false);
  mkdir_fails_beside_others = false;
  ASSERT_TRUE(running.ok()) << running.sentence();
  (*running)->stop(true);
}

TEST_F(JanitorTest, OneThatWasKilledLeavesTheProcessesToItsLauncher) {
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  dir_ = janitor.job_dir();
  start_rank();
  HeldProcess(janitor.number()).signal(SIGKILL);
  janitor.stop(false);
  EXPECT_TRUE(rank_dies());
}

/// It is stuck before its program runs, and so has copies of all that is open.
TEST_F(JanitorTest, AChildThatHasNotExecutedItsProgramHoldsNobody) {
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  ChildProcess child(::fork());
  if (child.number() <= 0) {
    for (;;) ::pause();
  }
  janitor.stop(false);
  EXPECT_FALSE(std::filesystem::exists(janitor.job_dir()));
  child.signal(SIGKILL);
  end_of(child);
}

TEST_F(JanitorTest, ADirectoryThatCannotBeMadeGetsASentence) {
  auto janitor = Janitor::start_and_wait(loop_, "/nowhere", false);
  ASSERT_FALSE(janitor.ok());
  EXPECT_EQ(janitor.sentence().find("no directory for the job: cannot find the directory /nowhere"),
            0U)
      << janitor.sentence();
}

/// Without the lock another launcher would take it for one that is left over.
TEST_F(JanitorTest, TheDirectoryStaysLockedWhenTheJanitorIsKilled) {
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  HeldProcess(janitor.number()).signal(SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(janitor.number()), &ended, WEXITED | WNOWAIT), 0);
  finish_left_over(kill_stale_jobs(testing::TempDir()));
  EXPECT_TRUE(std::filesystem::exists(janitor.job_dir()));
  janitor.stop(true);
}

TEST_F(JanitorTest, OneThatSomebodyStoppedSweepsNevertheless) {
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  dir_ = janitor.job_dir();
  const HeldProcess process(janitor.number());
  process.signal(SIGSTOP);
  int told = 0;
  ASSERT_EQ(::waitpid(process.number(), &told, WUNTRACED), process.number());
  janitor.stop(true);
  EXPECT_FALSE(std::filesystem::exists(dir_));
}

/// One whose directory nobody can remove now.
class StuckJanitor : public JanitorTest {
 protected:
  void SetUp() override {
    unlinkat_is_stuck = true;
    auto running = Janitor::start_and_wait(loop_, files_.path(), false);
    unlinkat_is_stuck = false;
    ASSERT_TRUE(running.ok()) << running.sentence();
    janitor_ = std::move(*running);
    dir_ = janitor_->job_dir();
    said_.clear();
    log_through([](std::string_view line) { said_ += line; });
  }
  void TearDown() override {
    log_through(nullptr);
    JanitorTest::TearDown();
    EXPECT_TRUE(remove_tree(dir_).ok());
  }
  static inline std::string said_;
  const test::ScratchDir files_;
  std::unique_ptr<Janitor> janitor_;
};

TEST_F(StuckJanitor, IsLeftAloneWithAWarning) {
  const auto number = std::to_string(janitor_->number());
  janitor_->stop(true);
  EXPECT_TRUE(std::filesystem::exists(dir_)) << "its launcher might have to wait, too";
  EXPECT_NE(said_.find("the job's janitor (process " + number + ") does not come to an end with " +
                       "the job's directory " + dir_ + ": it waits in the kernel (state D)"),
            std::string::npos)
      << said_;
  EXPECT_EQ(::kill(std::stoi(number), 0), 0) << "it may still go on";
}

TEST_F(StuckJanitor, IsKilledByASignalToItsLauncher) {
  ::kill(::getpid(), SIGTERM);
  janitor_->stop(true);
  EXPECT_FALSE(std::filesystem::exists(dir_)) << "a second janitor sweeps up";
  EXPECT_EQ(said_, "");
}

TEST_F(StuckJanitor, ASignalEndsTheWaitForASecondOneToo) {
  unlinkat_is_stuck = true;
  ::kill(::getpid(), SIGTERM);
  janitor_->stop(true);
  unlinkat_is_stuck = false;
  EXPECT_TRUE(std::filesystem::exists(dir_)) << "its launcher would have waited for ever";
  EXPECT_NE(said_.find("files of the job stay: a signal ended their removal"), std::string::npos)
      << said_;
}

TEST_F(JanitorTest, OneThatIsKilledBeforeItAnswersIsReplaced) {
  std::optional<bool> made;
  mkdir_is_stuck = true;
  auto running = Janitor::start(loop_, testing::TempDir(), false,
                                [&](const Status& status) { made = status.ok(); });
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  const pid_t first = janitor.number();
  HeldProcess(first).signal(SIGKILL);
  mkdir_is_stuck = false;
  EXPECT_TRUE(loop_.turn_until([&] { return made.has_value(); }, 30'000));
  EXPECT_EQ(made, true);
  EXPECT_NE(janitor.number(), first);
  EXPECT_TRUE(std::filesystem::exists(janitor.job_dir()));
  janitor.stop(true);
}

TEST_F(JanitorTest, ManyThatAreKilledEndTheStartWithASentence) {
  std::optional<Status> made;
  mkdir_is_stuck = true;
  auto running = Janitor::start(loop_, testing::TempDir(), false,
                                [&](const Status& status) { made.emplace(status); });
  ASSERT_TRUE(running.ok()) << running.sentence();
  pid_t last = -1;
  EXPECT_TRUE(loop_.turn_until(
      [&] {
        const pid_t now = (*running)->number();
        if (now > 0 && std::exchange(last, now) != now) HeldProcess(now).signal(SIGKILL);
        return made.has_value();
      },
      30'000));
  mkdir_is_stuck = false;
  ASSERT_TRUE(made && !made->ok());
  EXPECT_NE(made->sentence().find("was killed by signal 9 (Killed) before it made a directory"),
            std::string::npos)
      << made->sentence();
}

TEST_F(JanitorTest, ASignalEndsTheWaitForItsDirectory) {
  mkdir_is_stuck = true;
  ::kill(::getpid(), SIGTERM);
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  mkdir_is_stuck = false;
  ASSERT_FALSE(running.ok());
  EXPECT_EQ(running.sentence(), "interrupted before the job had a directory");
  EXPECT_EQ(loop_.end_asked(), SIGTERM);
}

TEST_F(JanitorTest, ADirectoryThatIsNotMadeInTimeGetsASentence) {
  std::optional<Status> made;
  mkdir_is_stuck = true;
  auto running =
      Janitor::start(loop_, "/tmp", false, [&](const Status& status) { made.emplace(status); });
  mkdir_is_stuck = false;
  ASSERT_TRUE(running.ok()) << running.sentence();
  Janitor& janitor = **running;
  constexpr int64_t kDayMs = 86'400'000;
  int64_t now = now_ms() + kDayMs;  // it was stopped meanwhile
  janitor.due(now);
  EXPECT_FALSE(made);
  for (const int64_t end_ms = now + Janitor::kAnswerMs; !made && now < end_ms;)
    janitor.due(now = janitor.deadline_ms());
  ASSERT_TRUE(made && !made->ok());
  EXPECT_EQ(made->sentence().find("the job's janitor has made no directory in /tmp for 20 s"), 0U)
      << made->sentence();
  EXPECT_EQ(janitor.deadline_ms(), kNever);
}

/// An empty GASNET_JOB_DIR, by which users mean to unset it, marks no process of that janitor's
/// job.
TEST_F(JanitorTest, OneThatNeverAnsweredKillsNobody) {
  dir_ = "";
  start_rank();
  mkdir_is_stuck = true;
  auto running = Janitor::start(loop_, testing::TempDir(), false, [](const Status&) {});
  mkdir_is_stuck = false;
  ASSERT_TRUE(running.ok()) << running.sentence();
  while ((*running)->deadline_ms() != kNever) (*running)->due((*running)->deadline_ms());
  (*running)->stop(false);
  EXPECT_TRUE(rank_lives());
}

TEST_F(JanitorTest, AnErrorOfReadingItsAnswerIsNotItsEnd) {
  failing_receptions = 2;
  auto running = Janitor::start_and_wait(loop_, testing::TempDir(), false);
  ASSERT_TRUE(running.ok()) << running.sentence();
  EXPECT_EQ(failing_receptions, 0);
  (*running)->stop(true);
}

/// Nobody may ever reap it, and it shows the mark until then.
TEST_F(JanitorTest, AZombieIsDead) {
  start_rank();
  rank_.signal(SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(rank_.number()), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_TRUE(JobMark(dir_).is_on(rank_.number()));
  EXPECT_TRUE(has_ended(rank_.number()));
  EXPECT_TRUE(kill_processes_of(dir_));
}

}  // namespace
}  // namespace pinwire::launch

/// Instead of the C library's, for this program.
int mkdir(const char* path, mode_t mode) noexcept {
  pinwire::launch::stay_while(pinwire::launch::mkdir_is_stuck);
  const auto parent = std::filesystem::path(path).parent_path();
  if (pinwire::launch::mkdir_fails_beside_others && !std::filesystem::is_empty(parent)) {
    errno = ENOSPC;
    return -1;
  }
  const auto real = reinterpret_cast<int (*)(const char*, mode_t)>(::dlsym(RTLD_NEXT, "mkdir"));
  return real(path, mode);
}

int unlinkat(int parent_fd, const char* name, int flags) noexcept {
  pinwire::launch::stay_while(pinwire::launch::removal_is_stuck);
  if (pinwire::launch::unlinkat_is_stuck) pinwire::launch::wait_in_kernel();
  pinwire::launch::wait_for_gate();
  if (pinwire::launch::removal_fails) {
    errno = EPERM;
    return -1;
  }
  const auto real =
      reinterpret_cast<int (*)(int, const char*, int)>(::dlsym(RTLD_NEXT, "unlinkat"));
  return real(parent_fd, name, flags);
}

int lstat(const char* path, struct stat* facts) noexcept {
  if (pinwire::launch::lstat_gets_signal) ::raise(SIGTERM);
  const auto real =
      reinterpret_cast<int (*)(const char*, struct stat*)>(::dlsym(RTLD_NEXT, "lstat"));
  return real(path, facts);
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  if (pinwire::launch::failing_receptions > 0) {
    --pinwire::launch::failing_receptions;
    errno = ENOBUFS;
    return -1;
  }
  const auto real = reinterpret_cast<ssize_t (*)(int, msghdr*, int)>(::dlsym(RTLD_NEXT, "recvmsg"));
  return real(fd, message, flags);
}

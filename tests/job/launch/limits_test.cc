// Many ranks, and users who may have few files, processes or bytes: it works, or a sentence says
// why not, and nothing is left in either case.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

constexpr int kCrowd = 1000;

class Limits : public Launch {
 protected:
  std::vector<std::string> with_ssh() const {
    return environment({std::string("GASNET_SSH_CMD=") + std::getenv("FAKE_SSH")});
  }
  /// A job of the crowd whose launcher begins as the line of sh(1) says.
  Outcome begun_by(const std::string& line, const std::vector<std::string>& options = {}) const {
    return run(in_shell(line + "; exec \"$@\"", command(kCrowd, {"true"}, options)), with_ssh());
  }
};

/// A rank of this host takes five files of the launcher.
TEST_F(Limits, AThousandRanksOfThisHostEndWell) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_max < 6 * kCrowd) GTEST_SKIP() << "this test may not have so many files";
  const auto outcome = launch(kCrowd, {"sh", "-c", "echo $GASNET_JOB_RANK"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(sorted_lines(outcome.out).size(), size_t{kCrowd});
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Limits, AThousandRanksOfManyHostsEndWell) {
  std::string hosts = "h0";
  for (int i = 1; i < 8; ++i) hosts += ",h" + std::to_string(i);
  const auto outcome =
      run(command(kCrowd, {"sh", "-c", "echo $GASNET_JOB_RANK"}, {"--hosts", hosts}), with_ssh());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(sorted_lines(outcome.out).size(), size_t{kCrowd});
  EXPECT_EQ(outcome.err, "");
}

/// The limit that counts is the hard one, and ranks have the one that their user set.
TEST_F(Limits, FewFilesForAProgramAreEnough) {
  for (const auto& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--hosts", "h0,h1"}}) {
    const auto outcome = run(
        in_shell("ulimit -Sn 256; exec \"$@\"", command(200, {"sh", "-c", "ulimit -Sn"}, options)),
        with_ssh());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "256\n"), 200) << outcome.out;
  }
}

TEST_F(Limits, TooFewFilesGetASentence) {
  for (const auto& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--hosts", "h0,h1"}}) {
    const auto outcome = begun_by("ulimit -n 256", options);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_GE(
        count_of(outcome.err, "Too many open files; raise the limit of open files (ulimit -n)"), 1)
        << outcome.err;
  }
}

/// Root may have as many processes as it likes.
TEST_F(Limits, TooFewProcessesGetASentence) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user is needed, whose processes are few";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
  for (const auto& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--hosts", "h0,h1"}}) {
    const auto outcome = begun_by(
        "set -- prlimit --nproc=100 setpriv --reuid=770004 --regid=770004 --clear-groups -- "
        "\"$@\"",
        options);
    if (outcome.code == 127) GTEST_SKIP() << "prlimit or setpriv is absent";
    if (outcome.err.find("Permission denied") != std::string::npos)
      GTEST_SKIP() << "another user may not come here: " << outcome.err;
    EXPECT_EQ(outcome.code, 2);
    EXPECT_GE(count_of(outcome.err, "too many processes? see ulimit -u"), 1) << outcome.err;
  }
}

/// A memory cgroup below the one of this test; removed at its end.
class SmallCgroup {
 public:
  SmallCgroup() {
    std::ifstream list("/proc/self/cgroup");
    for (std::string line; std::getline(list, line);) {
      const bool is_unified = line.starts_with("0::");
      const size_t at = is_unified ? 3 : line.find(":memory:") + 8;
      if (!is_unified && line.find(":memory:") == std::string::npos) continue;
      path_ = std::string("/sys/fs/cgroup") + (is_unified ? "" : "/memory") + line.substr(at) +
              "/launch-test-" + std::to_string(::getpid());
      const char* const limit = is_unified ? "/memory.max" : "/memory.limit_in_bytes";
      if (::mkdir(path_.c_str(), 0700) != 0) continue;
      is_made_ = static_cast<bool>(std::ofstream(path_ + limit) << "100000000" << std::flush);
      if (is_made_) return;
      ::rmdir(path_.c_str());
    }
  }
  ~SmallCgroup() {
    const bool is_left = is_made_ && ::rmdir(path_.c_str()) != 0;
    EXPECT_FALSE(is_left) << path_;
  }
  SmallCgroup(const SmallCgroup&) = delete;
  SmallCgroup& operator=(const SmallCgroup&) = delete;
  bool is_made() const { return is_made_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_made_ = false;
};

TEST_F(Limits, ARankThatTheKernelKillsForWantOfMemoryIsExplained) {
  for (const auto& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--hosts", "h0,h1"}}) {
    const SmallCgroup cgroup;
    if (!cgroup.is_made()) GTEST_SKIP() << "this test may not make a memory cgroup here";
    const std::string greedy = "[ $GASNET_JOB_RANK = 1 ] && exec tail /dev/zero; exec sleep 1000";
    const auto outcome =
        run(in_shell("echo $$ >" + cgroup.path() + "/cgroup.procs || exit 77; exec \"$@\"",
                     command(2, {"sh", "-c", greedy}, options)),
            with_ssh());
    if (outcome.code == 77) GTEST_SKIP() << "nor go there";
    EXPECT_EQ(outcome.code, 128 + SIGKILL) << outcome.err;
    EXPECT_EQ(count_of(outcome.err, "was killed: the kernel killed for want of memory"), 1)
        << outcome.err;
    EXPECT_TRUE(gone(mark_, kGoneSeconds));
  }
}

}  // namespace
}  // namespace pinwire_test

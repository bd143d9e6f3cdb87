// Ranks whose program has file capabilities, as programs for verbs and DPDK often do, share memory
// as others do, though the kernel hides from each what the others have open.
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "tests/job/launch/mpirun_fixture.h"
#include "tests/job/launch/ordinary_user.h"

namespace pinwire_test {
namespace {

/// Writes the same as setcap(8).
bool give_capabilities(const std::string& program) {
  const vfs_cap_data rights{.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                            .data = {{1u << CAP_NET_RAW | 1u << CAP_IPC_LOCK, 0}, {0, 0}}};
  return ::setxattr(program.c_str(), "security.capability", &rights, sizeof rights, 0) == 0;
}

class Hidden : public Mpirun {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a program capabilities";
    if (const auto why = why_no_rights(programs_); !why.empty()) GTEST_SKIP() << why;
    for (const Folder* one : {&programs_, &folder_})
      ASSERT_EQ(::chmod(one->path().c_str(), 01777), 0);
    if (!give_capabilities(program("hidden_barrier_matrix")))
      GTEST_SKIP() << "the file system of /tmp keeps no capabilities";
    const auto probe = run(as_user(command(1, {"true"})), environment());
    if (probe.code != 0) GTEST_SKIP() << "another user cannot run the launcher: " << probe.err;
  }
  /// A copy of one of the clients, without more rights than others.
  std::string program(const std::string& name) const {
    auto copy = programs_.path() + "/" + name;
    if (std::filesystem::exists(copy)) return copy;
    const std::string folder = std::getenv("HIDDEN_CLIENTS");
    std::filesystem::copy_file(folder + "/" + name, copy);
    return copy;
  }
  std::string capable(const std::string& name) const {
    auto copy = program(name);
    EXPECT_TRUE(give_capabilities(copy));
    return copy;
  }
  Outcome run_shared(int ranks, std::vector<std::string> words,
                     std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"GASNET_DRIVER=shm", kPatience});
    return run(as_user(command(ranks, std::move(words))), environment(more), "", 240);
  }
  /// The number of some rank, once they are at most `max`: the end of a connection may be a moment
  /// later than what it was for.
  int descriptors_of(const std::string& program, int ranks, int max = 1 << 20) const {
    const auto outcome = run_shared(ranks, {program, "count", std::to_string(max)});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    int count = 0;
    EXPECT_EQ(std::sscanf(outcome.out.c_str(), "descriptors %d", &count), 1) << outcome.out;
    return count;
  }
  Folder programs_;
};

/// GASNET_BARRIER=PSHM ends the job where the ranks share no lines.
TEST_F(Hidden, RanksShareMemory) {
  const auto outcome = run_shared(4, {capable("hidden_barrier_matrix")}, {"GASNET_BARRIER=PSHM"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Hidden, SegmentsThatAreMadeLaterAreShared) {
  const auto outcome = run_shared(3, {capable("hidden_endpoints")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Hidden, TheyFork) {
  const auto outcome = run_shared(2, {capable("hidden_fork"), "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

/// The kernel copies for nobody from and to a hidden process: messages carry puts and gets.
TEST_F(Hidden, AllMemoryMayBeASegment) {
  const auto outcome = run_shared(2, {capable("hidden_everything")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Hidden, RanksWithAndWithoutMoreRightsShareMemory) {
  const auto outcome =
      run_shared(3,
                 {"sh", "-c", "test $GASNET_JOB_RANK = 1 && exec \"$0\"; exec \"$1\"",
                  capable("hidden_barrier_matrix"),
                  std::string(std::getenv("HIDDEN_CLIENTS")) + "/hidden_barrier_matrix"},
                 {"GASNET_BARRIER=PSHM"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

/// The kernel hides the files of a program that its user may execute and not read, too.
TEST_F(Hidden, RanksOfAnUnreadableProgramShareMemory) {
  const auto unreadable = program("hidden_endpoints");
  ASSERT_EQ(::chmod(unreadable.c_str(), 0711), 0);
  const auto outcome = run_shared(2, {unreadable}, {"GASNET_BARRIER=PSHM"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

/// Their user and group at gasnet_init() count. (The kernel makes a process that becomes another
/// user hidden from then on, too.)
TEST_F(Hidden, RanksThatGiveUpTheirRightsShareLaterSegments) {
  const auto client = program("changing_client");
  ASSERT_EQ(::chmod(client.c_str(), 04755), 0);
  for (const char* changing : {"all", "one"}) {
    const auto outcome = run_shared(2, {client, changing});
    EXPECT_EQ(outcome.code, 0) << changing << ": " << outcome.err;
    EXPECT_EQ(sorted_lines(outcome.out),
              (std::vector<std::string>{"rank 0 has 43", "rank 1 has 42"}));
  }
}

TEST_F(Hidden, RanksThatWereNotHiddenAndGiveUpTheirRightsAreToldWhy) {
  const auto outcome = launch(2, {program("changing_client"), "all"}, {},
                              {"GASNET_DRIVER=shm", "GASNET_BACKTRACE=no", kPatience});
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("this process has become another user's or group's"),
            std::string::npos)
      << outcome.err;
}

/// Its memory is of a group to which its user does not belong.
TEST_F(Hidden, ASetGroupIdProgramPassesNothingToAProcessOfItsUser) {
  const auto client = program("hidden_barrier_matrix");
  ASSERT_EQ(::removexattr(client.c_str(), "security.capability"), 0);
  ASSERT_EQ(::chown(client.c_str(), 0, 770003), 0);
  ASSERT_EQ(::chmod(client.c_str(), 02755), 0);
  const auto alike = run_shared(2, {client}, {"GASNET_BARRIER=PSHM"});
  EXPECT_EQ(alike.code, 0) << alike.err;
  // A rank that ends first passes nothing to anybody: on a loaded machine the other one may only
  // be refused.
  constexpr int kTriesMax = 10;
  bool is_told = false;
  std::string err;
  for (int i = 0; i < kTriesMax && !is_told; ++i) {
    const auto mixed =
        run_shared(2, {"sh", "-c", "test $GASNET_JOB_RANK = 1 && exec \"$0\"; exec \"$1\"", client,
                       std::string(std::getenv("HIDDEN_CLIENTS")) + "/hidden_barrier_matrix"});
    EXPECT_NE(mixed.code, 0);
    is_told = mixed.err.find("of user 770001 and group 770") != std::string::npos;
    err = mixed.err;
  }
  EXPECT_TRUE(is_told) << err;
}

TEST_F(Hidden, NoDescriptorIsHeldForAPeer) {
  constexpr int kRanks = 32, kOfRank = 8;  // what a rank needs for itself, with some to spare
  const auto client = program("privileged_client");
  const int ordinary = descriptors_of(client, kRanks);
  capable("privileged_client");
  EXPECT_LE(descriptors_of(client, kRanks, ordinary + kOfRank), ordinary + kOfRank);
}

TEST_F(Hidden, RanksOfMpirunShareMemory) {
  Mpirun::SetUp();
  if (IsSkipped()) return;
  const auto outcome =
      run(as_user({"mpirun", "--oversubscribe", "-n", "3", capable("hidden_barrier_matrix")}),
          environment({"GASNET_DRIVER=shm", "GASNET_BARRIER=PSHM", kPatience,
                       "TMPDIR=" + folder_.path(), "HOME=" + folder_.path()}),
          "", 120);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const auto& left : entries(folder_.path(), ""))  // mpirun's own
    std::filesystem::remove_all(folder_.path() + "/" + left);
}

}  // namespace
}  // namespace pinwire_test

// Where ranks of one host meet over DPDK under mpirun, and who else may be there.
#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "tests/job/launch/mpirun_fixture.h"
#include "tests/support/left_dir.h"

namespace pinwire_test {
namespace {

constexpr uid_t kStranger = 770'001, kVictim = 770'002;  // numbers that no user has

class Meet : public Mpirun {
 protected:
  void SetUp() override {
    if (client_.empty()) GTEST_SKIP() << "built without DPDK";
    Mpirun::SetUp();
  }
  void TearDown() override {
    EXPECT_TRUE(open_.empty() || std::filesystem::remove(open_)) << "files are left";
    Mpirun::TearDown();
  }
  /// A directory to which all may write, as /tmp.
  const std::string& open_to_all() {
    open_ = folder_.path() + "/open";
    std::filesystem::create_directory(open_);
    EXPECT_EQ(::chmod(open_.c_str(), 01777), 0);
    return open_;
  }
  static std::vector<std::string> over_dpdk(std::vector<std::string> more = {}) {
    more.insert(more.end(), {kPatience, "GASNET_DRIVER=dpdk", "GASNET_DPDK_HUGEPAGES=never"});
    return more;
  }
  const std::string client_ = std::getenv("DPDK_CLIENT"), switch_ = std::getenv("PINWIRE_SWITCH");

 private:
  std::string open_;
};

TEST_F(Meet, NoDirectoryHasToBeNamed) {
  const auto outcome = mpirun(2, {client_}, over_dpdk());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Meet, MemifsSocketIsThereToo) {
  const auto outcome = mpirun(2, {client_}, over_dpdk({"GASNET_DPDK_FABRIC=memif"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Meet, BelowOneToWhichAllMayWriteTheRanksMakeTheirOwn) {
  const auto outcome = mpirun(2, {client_}, over_dpdk({"GASNET_JOB_DIR=" + open_to_all()}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

/// The maker of such a directory was killed before it could remove it.
TEST_F(Meet, WhatAKilledJobLeftThereGoes) {
  const auto left = pinwire::test::leave_dir(open_to_all(), pinwire::kRanksDirStart);
  const auto outcome = mpirun(2, {client_}, over_dpdk({"GASNET_JOB_DIR=" + open_to_all()}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(left));
  std::filesystem::remove(left);
}

TEST_F(Meet, OneThatIsNotThereIsSaid) {
  const auto outcome =
      mpirun(2, {client_}, over_dpdk({"GASNET_JOB_DIR=" + folder_.path() + "/nowhere"}));
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("/nowhere: No such file"), std::string::npos) << outcome.err;
}

TEST_F(Meet, MoreThanTwoRanksAreToldOfTheSwitch) {
  const auto outcome = mpirun(3, {client_}, over_dpdk());
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("pinwire_switch --ports 3 --dir DIR"), std::string::npos)
      << outcome.err;
}

TEST_F(Meet, MoreThanTwoRanksMeetAtTheSwitchOfAPrivateDirectory) {
  const Folder own;
  Running fabric({switch_, "--ports", "3", "--dir", own.path()}, environment());
  ASSERT_TRUE(fabric.wait_for("ready", 1)) << fabric.err();
  const auto outcome = mpirun(3, {client_}, over_dpdk({"GASNET_JOB_DIR=" + own.path()}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  ::kill(fabric.process(), SIGTERM);
  EXPECT_EQ(fabric.wait().code, 0);
}

TEST_F(Meet, TheSwitchEndsOrderlyByEachSignalThatAsksForItsEnd) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const Folder own;
    Running fabric({switch_, "--ports", "2", "--dir", own.path()}, environment());
    ASSERT_TRUE(fabric.wait_for("ready", 1)) << fabric.err();
    ::kill(fabric.process(), number);
    const auto outcome = fabric.wait();
    EXPECT_EQ(outcome.code, 0) << number;
    EXPECT_EQ(count_of(outcome.out, "pinwire_switch: forwarded"), 1) << outcome.out;
  }
}

TEST_F(Meet, TheSwitchTakesNoDirectoryToWhichOthersMayWrite) {
  const auto outcome =
      run({switch_, "--ports", "2", "--dir", open_to_all()}, environment(), "", 20);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("others may write to "), std::string::npos) << outcome.err;
}

/// DPDK would cut the path, and make the socket where the switch does not look for it.
TEST_F(Meet, TheSwitchTakesNoDirectoryTooLongForItsSockets) {
  const Folder own;
  const auto folder = own.path() + "/" + std::string(90, 'd');
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const auto outcome = run({switch_, "--ports", "2", "--dir", folder}, environment(), "", 20);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("more than a Unix socket's may; --dir takes a shorter one"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(entries(own.path(), "").size(), 1U) << "something is left";
}

TEST_F(Meet, ARankThatIsGivenOneByItsScriptRefusesIt) {
  const auto outcome =
      launch(2, {"env", "GASNET_JOB_DIR=" + open_to_all(), client_}, {}, over_dpdk());
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("sockets would be open to other users"), std::string::npos)
      << outcome.err;
}

/// Listens at `path` as another user; tells of each process that connects.
class Squatter {
 public:
  explicit Squatter(const std::string& path) {
    int told[2];
    EXPECT_EQ(::pipe(told), 0);
    child_ = ::fork();
    if (child_ == 0) listen_at(path.c_str(), told[1]);
    ::close(told[1]);
    told_ = told[0];
    char ready = 0;
    EXPECT_EQ(::read(told_, &ready, 1), 1);
    EXPECT_EQ(ready, 'r');
  }
  ~Squatter() { ::close(told_); }
  Squatter(const Squatter&) = delete;
  Squatter& operator=(const Squatter&) = delete;
  /// How many processes connected; ends it.
  int visitors() const {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
    int count = 0;
    for (char visitor; ::read(told_, &visitor, 1) == 1;) ++count;
    return count;
  }

 private:
  [[noreturn]] static void listen_at(const char* path, int tell) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kStranger, kStranger, kStranger) != 0 ||
        ::setresuid(kStranger, kStranger, kStranger) != 0)
      ::_exit(1);
    ::umask(0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener, 8) != 0 || ::write(tell, "r", 1) != 1)
      ::_exit(1);
    while (::accept(listener, nullptr, nullptr) >= 0)
      if (::write(tell, "v", 1) != 1) break;
    ::_exit(0);
  }
  pid_t child_;
  int told_;
};

/// The shape of an attack that got a rank's memory: a socket of another user's stands where the
/// ranks used to meet.
TEST_F(Meet, NobodyConnectsToAnotherUsersSocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to act as two users";
  const auto victim = std::to_string(kVictim);
  const std::vector<std::string> as_victim = {"setpriv", "--reuid=" + victim, "--regid=" + victim,
                                              "--clear-groups"};
  auto looks = as_victim;
  looks.insert(looks.end(), {"test", "-x", client_});
  if (run(looks).code != 0) GTEST_SKIP() << "other users may not execute " << client_;
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0711), 0);
  const std::string open = open_to_all(), home = folder_.path() + "/home";
  std::filesystem::create_directory(home);
  ASSERT_EQ(::chown(home.c_str(), kVictim, kVictim), 0);
  const Squatter squatter(open + "/pair.sock");
  auto words = as_victim;
  words.insert(words.end(), {"mpirun", "--oversubscribe", "-n", "2", client_});
  auto variables = over_dpdk({"GASNET_JOB_DIR=" + open, "HOME=" + home, "TMPDIR=" + home});
  variables.push_back("XDG_RUNTIME_DIR=" + home);
  const auto outcome = run(words, environment(variables), "", 60);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(squatter.visitors(), 0);
  std::filesystem::remove(open + "/pair.sock");
  std::filesystem::remove_all(home);
}

}  // namespace
}  // namespace pinwire_test

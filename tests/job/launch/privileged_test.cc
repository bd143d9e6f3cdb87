// A set-user-id program, started by another user, who fills its environment.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

namespace fs = std::filesystem;

class Privileged : public testing::Test {
 protected:
  static constexpr uid_t kUser = 770'001;  // a number that no user has

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make a program set-user-id";
    struct statvfs facts {};
    ASSERT_EQ(::statvfs(folder_.path().c_str(), &facts), 0);
    if ((facts.f_flag & ST_NOSUID) != 0) GTEST_SKIP() << "/tmp is mounted nosuid";
    if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) GTEST_SKIP() << "no_new_privs is set here";
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    fs::copy(std::getenv("PRIVILEGED_CLIENT"), program_);
    fs::create_directory(files_);
    ASSERT_EQ(::chown(files_.c_str(), kUser, kUser), 0);
    std::ofstream(tools_ = folder_.path() + "/gdb")
        << "#!/bin/sh\necho ran > " << files_ << "/gdb-ran\n";
    ASSERT_EQ(::chmod(tools_.c_str(), 0755), 0);
  }
  Outcome start(mode_t mode, std::vector<std::string> words,
                const std::vector<std::string>& environment) const {
    EXPECT_EQ(::chmod(program_.c_str(), mode), 0);
    const auto user = std::to_string(kUser);
    std::vector<std::string> all = {"setpriv", "--reuid=" + user, "--regid=" + user,
                                    "--clear-groups", program_};
    all.insert(all.end(), words.begin(), words.end());
    return run(all, environment, "", 60);
  }
  bool made(const char* name) const { return fs::exists(files_ + "/" + name); }
  static constexpr mode_t kOrdinary = 0755, kSetUserId = 04755;
  Folder folder_;
  const std::string program_ = folder_.path() + "/program", files_ = folder_.path() + "/files";
  std::string tools_;
};

TEST_F(Privileged, ItWritesNoFileThatTheEnvironmentNames) {
  const std::vector<std::string> environment = {"GASNET_TRACEFILE=" + files_ + "/trace",
                                                "GASNET_STATSFILE=" + files_ + "/stats"};
  const auto privileged = start(kSetUserId, {}, environment);
  EXPECT_EQ(privileged.code, 0) << privileged.err;
  EXPECT_FALSE(made("trace") || made("stats"));
  EXPECT_NE(privileged.err.find("GASNET_TRACEFILE has no effect"), std::string::npos)
      << privileged.err;
  EXPECT_EQ(start(kOrdinary, {}, environment).code, 0);
  EXPECT_TRUE(made("trace") && made("stats"));
}

TEST_F(Privileged, ItRunsNoDebuggerOfThePath) {
  const std::vector<std::string> environment = {
      "GASNET_BACKTRACE=1", "GASNET_BACKTRACE_TYPE=GDB,EXECINFO",
      "PATH=" + folder_.path() + ":/usr/local/bin:/usr/bin:/bin"};
  EXPECT_EQ(start(kSetUserId, {"crash"}, environment).code, 128 + SIGABRT);
  EXPECT_FALSE(made("gdb-ran"));
  EXPECT_EQ(start(kOrdinary, {"crash"}, environment).code, 128 + SIGABRT);
  EXPECT_TRUE(made("gdb-ran"));
}

TEST_F(Privileged, ItLoadsNoPluginsOfPmix) {
  const auto privileged = start(kSetUserId, {}, {"PMIX_RANK=0", "PMIX_NAMESPACE=none"});
  EXPECT_EQ(privileged.code, 1);
  EXPECT_NE(privileged.err.find("is no rank of mpirun"), std::string::npos) << privileged.err;
}

}  // namespace
}  // namespace pinwire_test

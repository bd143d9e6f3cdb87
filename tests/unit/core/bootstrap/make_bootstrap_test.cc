// Which of the ways of a start a process takes, by its environment.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "core/bootstrap/bootstrap.h"
#include "core/bootstrap/launcher_client.h"
#include "core/bootstrap/outer_job.h"

namespace pinwire {
namespace {

constexpr const char* kLauncherIsGone = "the launcher (gasnetrun_pinwire) is gone";

/// Each start is in a child: libpmix may leave threads behind.
class MakeBootstrap : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"PMIX_NAMESPACE", "PMIX_RANK", kJobPmixVariable, kJobFdVariable})
      ::unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  /// As its launcher does, which has ended since then.
  static void be_launchers_rank() {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    ::close(ends[0]);
    ::setenv(kJobFdVariable, std::to_string(ends[1]).c_str(), 1);
    const auto process = pmix_process([](const char* name) { return std::getenv(name); });
    ::setenv(kJobPmixVariable, process.c_str(), 1);
  }
  static void be_pmix_rank() {
    ::setenv("PMIX_NAMESPACE", "job-1", 1);
    ::setenv("PMIX_RANK", "0", 1);
  }
  /// Its name, or the sentence about its failure.
  static std::string start() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto made = make_bootstrap();
      const bool is_told = std::getenv(kJobFdVariable) != nullptr;
      const auto said = (made ? (*made)->name() : made.sentence()) + (is_told ? ", again" : "");
      ::_exit(::write(ends[1], said.data(), said.size()) < 0 ? 1 : 0);
    }
    ::close(ends[1]);
    std::string said(4096, '\0');
    const ssize_t got = ::read(ends[0], said.data(), said.size());
    said.resize(got > 0 ? static_cast<size_t>(got) : 0);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return said;
  }
  static bool looks_for_launcher(const std::string& said) {
    return said.find(kLauncherIsGone) != std::string::npos;
  }
};

TEST_F(MakeBootstrap, AProcessThatNobodyStartedIsAlone) { EXPECT_EQ(start(), "singleton"); }

/// A process that the rank starts is not that rank: it is told so no more.
TEST_F(MakeBootstrap, TheLaunchersRankAsksItsLauncherOnce) {
  be_launchers_rank();
  const auto said = start();
  EXPECT_TRUE(looks_for_launcher(said)) << said;
  EXPECT_EQ(said.find(", again"), std::string::npos) << said;
}

TEST_F(MakeBootstrap, ALauncherInsideOfMpirunIsTheNearer) {
  be_pmix_rank();
  be_launchers_rank();
  const auto said = start();
  EXPECT_TRUE(looks_for_launcher(said)) << said;
}

TEST_F(MakeBootstrap, ARankOfMpirunAsksPmix) {
  be_pmix_rank();
  const auto said = start();
  EXPECT_NE(said, "singleton");
  EXPECT_FALSE(looks_for_launcher(said)) << said;
}

TEST_F(MakeBootstrap, MpirunInsideOfALauncherIsTheNearer) {
  be_launchers_rank();
  be_pmix_rank();
  const auto said = start();
  EXPECT_NE(said, "singleton");
  EXPECT_FALSE(looks_for_launcher(said)) << said;
}

}  // namespace
}  // namespace pinwire

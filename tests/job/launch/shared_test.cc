// Launchers that share a pipe: each may take what poll(2) has promised to another. (Between poll(2)
// and write(2) there is too little time for such a test of output: see shared_file_test.cc.)
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "tests/job/launch/ssh_fixture.h"

namespace pinwire_test {
namespace {

class Shared : public Ssh {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  void TearDown() override {
    for (const int end : ends_) ::close(end);
    Ssh::TearDown();
  }
  /// How another process opens an end of it: it is one pipe then, also where that is not inherited.
  std::string name_of(int end) const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(ends_[end]);
  }
  void start(const std::vector<std::string>& words) {
    for (int i = 0; i < kLaunchers; ++i)
      launchers_.push_back(std::make_unique<Running>(words, environment(with_ssh())));
  }
  void expect_that_one_signal_ends_each() {
    for (auto& one : launchers_) ::kill(one->process(), SIGTERM);
    for (auto& one : launchers_) EXPECT_EQ(one->wait(kGoneSeconds).code, 128 + SIGTERM);
    launchers_.clear();
  }
  static constexpr int kLaunchers = 6, kRounds = 1000;
  std::vector<std::unique_ptr<Running>> launchers_;
  int ends_[2] = {-1, -1};
};

TEST_F(Shared, LaunchersThatReadOnePipeHearSignals) {
  start(in_shell("exec \"$@\" < " + name_of(0),
                 command(1, {"sh", "-c", "echo up; exec cat > /dev/null"}, {"--hosts", "n0"})));
  for (auto& one : launchers_) ASSERT_TRUE(one->wait_for("up", 1));
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_EQ(::write(ends_[1], "x", 1), 1);
    ::usleep(1000);
  }
  expect_that_one_signal_ends_each();
}

}  // namespace
}  // namespace pinwire_test

// Jobs on several hosts through the real ssh and a real sshd: one of this test alone, on loopback,
// with keys, configuration and port of its own. Both "hosts" are this one.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

constexpr const char* kSshd = "/usr/sbin/sshd";  // it insists on being called by its whole path

class Sshd : public Launch {
 protected:
  void SetUp() override {
    if (::access(kSshd, X_OK) != 0)
      GTEST_SKIP() << "no sshd here (scripts/install-packages daemon installs it)";
    for (const char* program : {"ssh", "ssh-keygen"})
      if (std::system(("command -v " + std::string(program) + " >/dev/null").c_str()) != 0)
        GTEST_SKIP() << "no " << program << " here";
    // Where sshd of root confines itself; a machine that never started one has none.
    if (::geteuid() == 0) made_confines_ = ::mkdir(kConfines, 0755) == 0;
    for (const char* name : {"host_key", "user_key"})
      ASSERT_EQ(run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(name)}).code, 0);
    std::filesystem::copy_file(path("user_key.pub"), path("authorized_keys"));
    port_ = free_ports(1)[0];
    std::ofstream(path("config"))
        << "ListenAddress 127.0.0.1\nPort " << port_ << "\nHostKey " << path("host_key")
        << "\nPidFile none\nAuthorizedKeysFile " << path("authorized_keys")
        << "\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n";
    server_ = std::make_unique<Running>(
        std::vector<std::string>{kSshd, "-D", "-e", "-f", path("config")});
    const auto words = login("localhost");
    Outcome probe;
    for (const double until = now_s() + kGoneSeconds; now_s() < until && probe.code != 0;
         ::usleep(50'000))
      probe = run(words, {}, "", kGoneSeconds);
    if (probe.code != 0) GTEST_SKIP() << "this user cannot log in here: " << probe.err;
  }
  void TearDown() override {
    server_.reset();
    if (made_confines_) ::rmdir(kConfines);
    EXPECT_TRUE(gone("GASNET_TMPDIR=" + folder_.path(), kGoneSeconds)) << "processes are left";
    Launch::TearDown();
  }
  std::string path(const char* name) const { return keys_.path() + "/" + name; }
  std::string options() const {
    return "-F none -p " + std::to_string(port_) + " -i " + path("user_key") +
           " -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR "
           "-o UserKnownHostsFile=" +
           path("known_hosts");
  }
  std::vector<std::string> login(const std::string& host) const {
    return {"sh", "-c", "exec ssh -T -x -o BatchMode=yes " + options() + " " + host + " true"};
  }
  Outcome ssh(int ranks, std::vector<std::string> words, std::vector<std::string> more = {},
              const std::string& input = "") const {
    more.push_back("GASNET_SSH_OPTIONS=" + options());
    return launch(ranks, std::move(words), {"--hosts", "localhost,127.0.0.1"}, std::move(more),
                  input);
  }

 private:
  static constexpr const char* kConfines = "/run/sshd";
  Folder keys_;
  int port_ = 0;
  bool made_confines_ = false;
  std::unique_ptr<Running> server_;
};

TEST_F(Sshd, RunsJobsToTheirEnd) {
  const auto gathered = ssh(4, {rank_, "gather", "100000", "5"});
  EXPECT_EQ(gathered.code, 0) << gathered.err;
  EXPECT_EQ(count_of(gathered.out, "launcher rank"), 4) << gathered.out;
  const auto outcome = ssh(4, {std::getenv("RMA_MATRIX")}, {kPatience});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "ok with 4 ranks"), 1) << outcome.out << outcome.err;
}

TEST_F(Sshd, StandardInputReachesRank0) {
  const std::string input(300'000, 'i');
  const auto outcome = ssh(2, {"cat"}, {}, input);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.size(), input.size());
}

TEST_F(Sshd, C1_103_OneRankThatEndsEndsTheOthers) {
  const struct {
    std::vector<std::string> deed;
    int code;
  } cases[] = {{{"leave", "7"}, 7}, {{"kill"}, 128 + SIGKILL}};
  for (const auto& one : cases) {
    auto words = std::vector<std::string>{rank_, "one", "2"};
    words.insert(words.end(), one.deed.begin(), one.deed.end());
    const auto outcome = ssh(4, words);
    EXPECT_EQ(outcome.code, one.code) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "got SIGQUIT"), 3) << outcome.out;
    EXPECT_LT(outcome.seconds, kGoneSeconds);
  }
}

}  // namespace
}  // namespace pinwire_test

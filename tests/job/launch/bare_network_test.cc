// Machines whose network lacks what most have, each a namespace of its own: one has IPv6 alone, at
// a loopback interface, and the name of the other resolves to nothing.
#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class BareNetwork : public Launch {
 protected:
  void SetUp() override {
    const auto probe = inside({"true"});
    if (probe.code != 0) GTEST_SKIP() << "no such namespace here (that needs root): " << probe.err;
  }
  /// A line of sh(1) that makes the machine so, and fails if it cannot.
  virtual std::string making() const = 0;
  Outcome inside(const std::vector<std::string>& words, std::vector<std::string> more = {}) const {
    auto all = in_shell("ip link set lo up && " + making() + " && exec \"$@\"", words);
    all.insert(all.begin(), {"unshare", "-n", "-u"});
    more.insert(more.end(), {kPatience, "TMPDIR=" + folder_.path(),
                             std::string("GASNET_SSH_CMD=") + std::getenv("FAKE_SSH")});
    return run(all, environment(more));
  }
  void expect_barriers(const std::vector<std::string>& words) const {
    const auto outcome = inside(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "in order"), 3) << outcome.out;
  }
  void expect_mpirun_works() const {
    std::vector<std::string> mpirun = {
        "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", "true"};
    if (inside(mpirun).code != 0) GTEST_SKIP() << "mpirun itself does not work so, or is absent";
    mpirun.pop_back();
    mpirun.insert(mpirun.end(), barriers_.begin(), barriers_.end());
    expect_barriers(mpirun);
  }
  void expect_dpdk_works() const {
    if (client_.empty()) GTEST_SKIP() << "built without DPDK";
    const std::vector<std::string> over = {"GASNET_DRIVER=dpdk", "GASNET_DPDK_HUGEPAGES=never"};
    for (const auto& options :
         {std::vector<std::string>{}, std::vector<std::string>{"-spawner=netns"}}) {
      const auto outcome = inside(command(2, {client_}, options), over);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
    }
  }
  const std::vector<std::string> barriers_ = {rank_, "barriers", "3"};
  const std::string client_ = std::getenv("DPDK_CLIENT");
};

class OnlyIpv6 : public BareNetwork {
  std::string making() const override {
    return "ip -4 addr flush dev lo && [ -z \"$(ip -4 addr)\" ] && "
           "ip -6 addr show dev lo | grep -q ::1/128";
  }
};

TEST_F(OnlyIpv6, JobsOfThisHostAndOfOthersRun) {
  expect_barriers(command(3, barriers_));
  expect_barriers(command(3, barriers_, {"--hosts", "[::1],ip6-localhost"}));
}

TEST_F(OnlyIpv6, MpirunsRanksMeet) { expect_mpirun_works(); }

TEST_F(OnlyIpv6, RanksMeetOverDpdk) { expect_dpdk_works(); }

class NoSuchName : public BareNetwork {
  std::string making() const override {
    return "hostname no-such-host.invalid && ! getent hosts no-such-host.invalid";
  }
};

TEST_F(NoSuchName, JobsOfThisHostAndOfOthersRun) {
  expect_barriers(command(3, barriers_));
  expect_barriers(command(3, barriers_, {"--hosts", "no-such-host.invalid,other"}));
}

TEST_F(NoSuchName, MpirunsRanksMeet) { expect_mpirun_works(); }

TEST_F(NoSuchName, RanksMeetOverDpdk) { expect_dpdk_works(); }

}  // namespace
}  // namespace pinwire_test

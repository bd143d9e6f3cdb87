// A machine that has IPv6 alone: a network namespace whose loopback interface has ::1 and nothing
// else.
#include "tests/job/launch/mpirun_fixture.h"

namespace pinwire_test {
namespace {

class OnlyIpv6 : public Launch {
 protected:
  void SetUp() override {
    const auto probe = inside({"true"});
    if (probe.code != 0) GTEST_SKIP() << "no such namespace here (that needs root): " << probe.err;
  }
  Outcome inside(const std::vector<std::string>& words, std::vector<std::string> more = {}) const {
    auto all = in_shell(
        "ip link set lo up && ip -4 addr flush dev lo && [ -z \"$(ip -4 addr)\" ] && "
        "ip -6 addr show dev lo | grep -q ::1/128 && exec \"$@\"",
        words);
    all.insert(all.begin(), {"unshare", "-n"});
    more.push_back(kPatience);
    more.push_back(std::string("GASNET_SSH_CMD=") + std::getenv("FAKE_SSH"));
    return run(all, environment(more));
  }
  void expect_barriers(const Outcome& outcome) const {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "in order"), 3) << outcome.out;
  }
  std::vector<std::string> barriers() const { return {rank_, "barriers", "3"}; }
  const std::string client_ = std::getenv("DPDK_CLIENT");
};

TEST_F(OnlyIpv6, JobsOfThisHostAndOfOthersRun) {
  expect_barriers(inside(command(3, barriers())));
  expect_barriers(inside(command(3, barriers(), {"--hosts", "[::1],ip6-localhost"})));
}

TEST_F(OnlyIpv6, MpirunsRanksMeet) {
  if (std::string(std::getenv("PMIX_BUILT")) != "yes") GTEST_SKIP() << "built without pmix.h";
  const std::vector<std::string> mpirun = {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n",
                                           "3"};
  const auto with = [&mpirun](const std::vector<std::string>& words) {
    auto all = mpirun;
    all.insert(all.end(), words.begin(), words.end());
    return all;
  };
  if (inside(with({"true"}), {"TMPDIR=" + folder_.path()}).code != 0)
    GTEST_SKIP() << "mpirun itself does not work so, or is absent";
  expect_barriers(inside(with(barriers()), {"TMPDIR=" + folder_.path()}));
}

TEST_F(OnlyIpv6, RanksMeetOverDpdk) {
  if (client_.empty()) GTEST_SKIP() << "built without DPDK";
  const std::vector<std::string> over = {"GASNET_DRIVER=dpdk", "GASNET_DPDK_HUGEPAGES=never"};
  for (const auto& options :
       {std::vector<std::string>{}, std::vector<std::string>{"-spawner=netns"}}) {
    const auto outcome = inside(command(2, {client_}, options), over);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
}

}  // namespace
}  // namespace pinwire_test

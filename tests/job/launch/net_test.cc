// The networks that the launcher makes around ranks of this host.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/job/launch/launch_fixture.h"
#include "tests/job/launch/ordinary_user.h"

namespace pinwire_test {
namespace {

class Namespaces : public Launch {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    const auto probe = launch(1, {"true"}, {"-spawner=netns"});
    if (probe.code != 0) GTEST_SKIP() << "no network namespaces here: " << probe.err;
  }
};

TEST_F(Namespaces, EveryRankHasAnInterfaceOfItsOwn) {
  const auto outcome =
      launch(4, {"sh", "-c", "readlink /proc/self/ns/net; grep -c pinwire0: /proc/net/dev"},
             {"-spawner=netns"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = sorted_lines(outcome.out);
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 5U)
      << "four namespaces, and a 1 each";
}

TEST_F(Namespaces, RanksBootstrapAcrossThem) {
  const auto outcome = launch(8, {rank_, "gather", "100", "3"}, {"-spawner=netns"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "launcher rank"), 8);
}

TEST_F(Namespaces, TheVariablesOfTheFabricAreSet) {
  const auto words =
      std::vector<std::string>{"sh", "-c", "echo $GASNET_DPDK_FABRIC $GASNET_DPDK_IFACE"};
  EXPECT_EQ(launch(1, words, {"-spawner=netns"}).out, "af_packet pinwire0\n");
}

TEST_F(Namespaces, FramesPassBetweenRanks) {
  const auto outcome = launch(3, {rank_, "frames", "pinwire0"}, {"-spawner=netns"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "heard all"), 3) << outcome.out;
}

TEST_F(Namespaces, AKilledLauncherLeavesNone) {
  Running job(command(2, {rank_, "wait"}, {"-spawner=netns"}), environment());
  ASSERT_TRUE(job.wait_for("waiting", 2));
  ::kill(job.process(), SIGKILL);
  EXPECT_TRUE(gone(mark_, kGoneSeconds));
  EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds));
  EXPECT_EQ(entries("/run/netns", "").size(), named_before_);
}

/// The launcher fails twice, to leave its namespace and to come back; it names the first failure.
TEST_F(Launch, NamespacesWithoutRootGetAHint) {
  auto words = command(1, {"true"}, {"-spawner=netns"});
  if (::geteuid() == 0) {
    ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0);
    words = as_user(std::move(words));
  }
  const auto outcome = run(words, environment());
  if (outcome.code == 0 || outcome.code == 127)
    GTEST_SKIP() << "an ordinary user may, or setpriv is absent";
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("-spawner=netns needs root"), std::string::npos) << outcome.err;
}

class Switch : public Launch {
 protected:
  std::vector<std::string> with_switch(std::vector<std::string> more = {}) const {
    more.push_back(std::string("GASNET_SWITCH=") + std::getenv("FAKE_SWITCH_PROGRAM"));
    more.push_back("FAKE_SWITCH_SEEN=" + seen_.path() + "/arguments");
    more.push_back("GASNET_DRIVER=dpdk");
    return more;
  }
  std::string seen() const {
    std::ifstream file(seen_.path() + "/arguments");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  Outcome in_directory(const std::string& folder, int ranks) const {
    auto more = with_switch({mark_, "GASNET_TMPDIR=" + folder});
    return run(command(ranks, {"true"}), more);
  }
  void expect_refused(const std::string& folder, int ranks, const char* sentence) const {
    const auto outcome = in_directory(folder, ranks);
    EXPECT_EQ(outcome.code, 2) << folder;
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("GASNET_TMPDIR"), std::string::npos) << outcome.err;
    EXPECT_EQ(seen(), "") << "nothing was started";
  }
  /// Over shared memory any directory will do.
  void expect_shm_takes(const std::string& folder) const {
    const auto outcome =
        run(command(2, {"true"}, {"--driver", "shm"}), {"GASNET_TMPDIR=" + folder, mark_});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  Folder seen_;
};

/// A group of its own, which the terminal's signals do not reach, and the ranks' session: another
/// would be another autogroup, and the kernel starved it for seconds beside ranks that spin.
TEST_F(Switch, IsInTheSessionOfTheRanks) {
  const auto outcome = launch(3, {"true"}, {}, with_switch());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  pid_t self = 0, group = 0, session = 0;
  std::ifstream(seen_.path() + "/arguments.ids") >> self >> group >> session;
  EXPECT_NE(self, 0);
  EXPECT_EQ(group, self);
  EXPECT_EQ(session, ::getsid(0));
}

TEST_F(Switch, RunsForMoreThanTwoRanks) {
  const auto outcome =
      launch(3, {"sh", "-c", "echo $GASNET_DPDK_FABRIC $GASNET_JOB_DIR"}, {"-v"},
             with_switch({"GASNET_SWITCH_ARGS=--loss 0.1 --seed 7", "GASNET_DPDK_QUEUES=2"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto line = sorted_lines(outcome.out).at(0);
  EXPECT_EQ(line.substr(0, 7), "switch ");
  EXPECT_EQ(seen(), "--ports 3 --dir " + line.substr(7) + " --queues 2 --loss 0.1 --seed 7\n");
  EXPECT_NE(outcome.err.find("fake_switch: counters"), std::string::npos) << outcome.err;
}

TEST_F(Switch, IsNotStartedWithoutNeed) {
  const std::vector<std::string> words = {"sh", "-c", "echo ok"};
  launch(2, words, {}, with_switch());
  launch(3, words, {}, with_switch({"GASNET_DPDK_FABRIC=af_packet"}));
  launch(3, words, {}, with_switch({"GASNET_DPDK_IFACE=eth0"}));
  launch(3, words, {}, with_switch({"GASNET_DPDK_PCI=0000:17:00.0"}));
  launch(3, words, {}, with_switch({"GASNET_EAL_ARGS=--no-pci --vdev=net_null0"}));
  launch(1, words, {}, with_switch());
  launch(3, words, {"--driver", "shm"}, with_switch());
  EXPECT_EQ(seen(), "");
  launch(2, words, {}, with_switch({"GASNET_DPDK_FABRIC=switch"}));
  EXPECT_EQ(seen().substr(0, 9), "--ports 2");
}

/// EAL arguments that name no device leave the choice to the fabric.
TEST_F(Switch, RunsForRanksWithEalArgumentsOfTheirOwn) {
  launch(3, {"true"}, {}, with_switch({"GASNET_EAL_ARGS=--log-level=8"}));
  EXPECT_EQ(seen().substr(0, 9), "--ports 3");
  const auto open = launch(3, {"true"}, {}, with_switch({"GASNET_EAL_ARGS=--vdev='net_null0"}));
  EXPECT_EQ(open.code, 2);
  EXPECT_NE(open.err.find("the quote ' is not closed"), std::string::npos) << open.err;
}

TEST_F(Switch, MoreRanksThanItHasPortsGetASentence) {
  const auto outcome = launch(65, {"true"}, {}, with_switch());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("65 ranks of one host over DPDK"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("pinwire_switch has 64"), std::string::npos) << outcome.err;
  EXPECT_EQ(seen(), "") << "nothing was started";
}

TEST_F(Switch, ADirectoryThatDpdkCannotBeToldGetsASentenceAtOnce) {
  for (const char* name : {"/a,b", "/a b", "/it's", "/a[0]"}) {
    const auto folder = folder_.path() + name;
    ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
    for (const int ranks : {2, 3})
      expect_refused(folder, ranks, "cannot be part of DPDK's arguments");
    EXPECT_EQ(in_directory(folder, 1).code, 0) << "it meets nobody";
    expect_shm_takes(folder);
    EXPECT_EQ(::rmdir(folder.c_str()), 0) << "something is left";
  }
}

/// DPDK would cut the path, and make the socket outside of the job's directory.
TEST_F(Switch, ADirectoryTooLongForSocketsGetsASentenceAtOnce) {
  constexpr size_t kSocketBytesMax = 107;
  const std::string below = "/pinwire-job-XXXXXXXXXXXX/sw_9.sock";
  std::string folder = folder_.path() + "/";
  folder.resize(kSocketBytesMax - below.size(), 'd');
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  EXPECT_EQ(in_directory(folder, 10).code, 0);
  EXPECT_EQ(seen().substr(0, 10), "--ports 10");
  std::filesystem::remove(seen_.path() + "/arguments");
  expect_refused(folder, 11, "has 108 bytes, 1 more than a Unix socket's may");
  EXPECT_EQ(::rmdir(folder.c_str()), 0) << "something is left";
}

TEST_F(Switch, OneThatCannotStartGetsASentence) {
  const auto broken = launch(3, {"true"}, {}, with_switch({"FAKE_SWITCH=broken"}));
  EXPECT_EQ(broken.code, 2);
  EXPECT_NE(broken.err.find("fake_switch: cannot start"), std::string::npos);
  EXPECT_NE(broken.err.find("did not become ready"), std::string::npos) << broken.err;
  const auto absent = launch(3, {"true"}, {"--driver", "dpdk"}, {"GASNET_SWITCH=/nowhere/switch"});
  EXPECT_EQ(absent.code, 2);
  EXPECT_NE(absent.err.find("/nowhere/switch"), std::string::npos) << absent.err;
}

/// The ranks would wait for each other's frames for ever.
TEST_F(Switch, OneThatEndsWhileRanksRunEndsTheJobWithASentence) {
  for (const auto& [signal, how] : {std::pair{SIGKILL, "was killed by signal 9 (Killed)"},
                                    std::pair{SIGTERM, "ended with code 0"}}) {
    Running job(command(3, {rank_, "wait"}), environment(with_switch()));
    ASSERT_TRUE(job.wait_for("waiting", 3));
    pid_t process = 0;
    std::ifstream(seen_.path() + "/arguments.ids") >> process;
    ASSERT_GT(process, 0);
    ASSERT_EQ(::kill(process, signal), 0);
    const auto outcome = job.wait();
    EXPECT_EQ(outcome.code, 1);
    const auto sentence = "pinwire_switch (process " + std::to_string(process) + ") " + how +
                          ": it carried all frames between the ranks";
    EXPECT_EQ(count_of(outcome.err, sentence), 1) << outcome.err;
  }
}

/// In a PID namespace whose next number the test chooses, as the kernel chooses it on a busy host.
/// The job goes on for a moment after its switch has died: its rank takes SIGQUIT.
TEST_F(Switch, NobodyIsSignalledWhoHasTheNumberOfADeadOne) {
  const std::string script = R"(
    "$@" >$OUT 2>&1 & job=$!
    until [ $(grep -c waiting $OUT) = 3 ]; do sleep 0.02; done
    read switch rest <$FAKE_SWITCH_SEEN.ids
    kill -9 $switch
    while kill -0 $switch || kill -0 -$switch; do sleep 0.01; done 2>/dev/null
    echo $((switch - 1)) >/proc/sys/kernel/ns_last_pid
    sleep 1000 & stranger=$!
    wait $job
    [ $stranger = $switch ] && echo same number
    kill -0 $stranger && echo lives)";
  const char* const waits =
      "trap 'sleep 0.3; exit 0' QUIT; echo waiting; while :; do sleep 0.05; done";
  auto words = in_shell(script, command(3, {"sh", "-c", waits}));
  words.insert(words.begin(), {"unshare", "-p", "-f", "--mount-proc"});
  const auto outcome = run(words, environment(with_switch({"OUT=" + seen_.path() + "/out"})));
  if (outcome.out.find("same number") == std::string::npos)
    GTEST_SKIP() << "no number can be chosen here (that needs root): " << outcome.err;
  EXPECT_EQ(outcome.out, "same number\nlives\n") << outcome.err;
}

TEST_F(Switch, OneThatDoesNotComeUpKeepsNobodyFromEndingTheJob) {
  Running job(command(3, {"true"}), environment(with_switch({"FAKE_SWITCH=slow"})));
  while (seen().empty()) ::usleep(1000);
  ::kill(job.process(), SIGTERM);
  const auto outcome = job.wait(15);  // without a signal it is given 20 s
  EXPECT_EQ(outcome.code, 128 + SIGTERM);
  EXPECT_NE(outcome.err.find("interrupted while pinwire_switch"), std::string::npos) << outcome.err;
}

/// The launcher takes it with the switch's last word, before there are ranks.
TEST_F(Switch, ASignalTogetherWithItsLastWordIsNotLost) {
  for (const int number : {SIGINT, SIGTERM}) {
    Running job(command(3, {"sleep", "1000"}), environment(with_switch({"FAKE_SWITCH=slow"})));
    while (seen().empty()) ::usleep(1000);
    ::kill(job.process(), SIGSTOP);
    ASSERT_TRUE(comes_into_state(job.process(), 'T'));
    std::ofstream(seen_.path() + "/arguments.go").close();
    while (!std::ifstream(seen_.path() + "/arguments.ready")) ::usleep(1000);
    ::kill(job.process(), number);
    ::kill(job.process(), SIGCONT);
    EXPECT_EQ(job.wait().code, 128 + number);
    for (const char* file : {"/arguments", "/arguments.go", "/arguments.ready"})
      std::remove((seen_.path() + file).c_str());
  }
}

TEST_F(Switch, ASignalForTheRanksThatComesBeforeThemWaits) {
  Running job(command(3, {"sleep", "1000"}), environment(with_switch({"FAKE_SWITCH=slow"})));
  while (seen().empty()) ::usleep(1000);
  ::kill(job.process(), SIGUSR1);
  ::usleep(300'000);  // for the launcher to take it
  std::ofstream(seen_.path() + "/arguments.go").close();
  EXPECT_EQ(job.wait().code, 128 + SIGUSR1);
}

/// It takes no other signal until it goes on.
TEST_F(Switch, OneThatSomebodyStoppedStillReports) {
  Running job(command(3, {"sh", "-c", "echo waiting; read line; exit 0"}, {"-v"}),
              environment(with_switch()));
  ASSERT_TRUE(job.wait_for("waiting", 3));
  pid_t process = 0;
  std::ifstream(seen_.path() + "/arguments.ids") >> process;
  ASSERT_GT(process, 0);
  ::kill(process, SIGSTOP);
  ASSERT_TRUE(comes_into_state(process, 'T'));
  job.tell("on\n");
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "fake_switch: counters"), 1) << outcome.err;
}

TEST_F(Switch, DiesWithAKilledLauncher) {
  Running job(command(3, {rank_, "wait"}), environment(with_switch()));
  ASSERT_TRUE(job.wait_for("waiting", 3));
  ::kill(job.process(), SIGKILL);
  EXPECT_TRUE(gone(mark_, kGoneSeconds));
  EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds));
}

}  // namespace
}  // namespace pinwire_test

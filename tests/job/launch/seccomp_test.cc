// Jobs under a seccomp filter that refuses calls of the kernel that the library can do without, or
// of whose absence it tells: no crash, no hang, and nothing left.
#include <signal.h>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class Seccomp : public Launch, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const auto probe = run(refusing("timerfd_create", {"true"}));
    if (probe.code == 77) GTEST_SKIP() << probe.err;
    ASSERT_EQ(probe.code, 0) << probe.err;
  }
  static std::vector<std::string> refusing(const std::string& calls,
                                           const std::vector<std::string>& words) {
    std::vector<std::string> all = {std::getenv("REFUSE_CALLS"), GetParam(), calls};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  Outcome launch_without(const std::string& calls, std::vector<std::string> words,
                         std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"GASNET_DRIVER=shm", kPatience});
    return run(refusing(calls, command(2, std::move(words))), environment(more), "", 120);
  }
  static std::string client(const char* name) {
    return std::string(std::getenv("HIDDEN_CLIENTS")) + "/" + name;
  }
};

TEST_P(Seccomp, JobsDoWithoutWhatIsADetail) {
  for (const char* calls :
       {"process_vm_readv,process_vm_writev", "userfaultfd", "membarrier", "timerfd_create",
        "pidfd_open", "pidfd_send_signal", "close_range", "setns,sched_setaffinity"}) {
    for (const char* program : {"hidden_barrier_matrix", "hidden_everything"}) {
      const auto outcome = launch_without(calls, {client(program)});
      EXPECT_EQ(outcome.code, 0) << calls << ", " << program << ": " << outcome.err;
    }
  }
}

TEST_P(Seccomp, WithoutMemoryFilesThereIsASentence) {
  const auto outcome = launch_without("memfd_create", {client("hidden_barrier_matrix")});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("shared memory: "), std::string::npos) << outcome.err;
}

/// Without one at its start a rank would wait for its link as long as it may.
TEST_P(Seccomp, WithoutMemoryFilesDpdkHasASentence) {
  const std::string client = std::getenv("DPDK_CLIENT");
  if (client.empty()) GTEST_SKIP() << "built without DPDK";
  const auto outcome =
      run(refusing("memfd_create", command(2, {client})),
          environment({"GASNET_DRIVER=dpdk", "GASNET_DPDK_HUGEPAGES=never", kPatience}));
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "the kernel refuses a file for it: memfd_create: "), 2)
      << outcome.err;
}

TEST_P(Seccomp, WithoutSignalFilesThereIsASentence) {
  const auto outcome = launch_without("signalfd4", {client("hidden_barrier_matrix")});
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("signalfd"), std::string::npos) << outcome.err;
}

TEST_P(Seccomp, WithoutEventFilesDispatchersGetASentence) {
  for (const char* mode : {"poll", "interrupt", "watchdog", "thread", "nicproc"}) {
    const auto outcome =
        launch_without("eventfd2", {client("hidden_barrier_matrix")},
                       {std::string("GASNET_DISPATCH=") + mode, "GASNET_QUIET=yes"});
    const bool needs_none = std::string(mode) == "poll";
    EXPECT_EQ(outcome.code, needs_none ? 0 : 1) << mode << ": " << outcome.err;
    const char* const sentence = "cannot open what GASNET_DISPATCH needs: ";
    if (needs_none)
      EXPECT_EQ(outcome.err, "");
    else
      EXPECT_NE(outcome.err.find(sentence), std::string::npos) << mode << ": " << outcome.err;
    EXPECT_EQ(count_of(outcome.err, "ulimit -n"), 0) << "no limit refuses it: " << outcome.err;
  }
}

TEST_P(Seccomp, RanksThatDoNotEndAreKilled) {
  for (const char* calls : {"pidfd_open", "pidfd_send_signal"}) {
    const auto outcome = run(refusing(calls, command(2, {rank_, "one", "1", "leave", "7"})),
                             environment({"STUBBORN=1", "GASNET_EXITTIMEOUT=1"}), "", 60);
    EXPECT_EQ(outcome.code, 7) << calls << ": " << outcome.err;
  }
}

TEST_P(Seccomp, NothingOutlivesAKilledLauncher) {
  for (const char* calls : {"close_range", "pidfd_open", "pidfd_send_signal"}) {
    Running job(refusing(calls, command(2, {rank_, "orphan"})), environment());
    ASSERT_TRUE(job.wait_for("waiting", 2)) << job.err();
    ::kill(job.process(), SIGKILL);
    EXPECT_TRUE(gone(mark_, kGoneSeconds)) << calls;
    EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds)) << calls;
  }
}

INSTANTIATE_TEST_SUITE_P(Refused, Seccomp, testing::Values("EPERM", "ENOSYS"));

}  // namespace
}  // namespace pinwire_test

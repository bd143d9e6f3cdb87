// Each environment variable that changes a job changes it as users of GASNet know it.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class Environment : public Launch {
 protected:
  const std::string seq_ = std::getenv("ENVIRONMENT_SEQ"), par_ = std::getenv("ENVIRONMENT_PAR");
  const bool has_dpdk_ = std::getenv("DPDK_BUILT") == std::string("yes");

  Outcome facts(int ranks, std::vector<std::string> more) const {
    more.push_back("GASNET_DRIVER=shm");
    return launch(ranks, {seq_, "facts"}, {}, more);
  }
  void expect_refused(const Outcome& outcome, const std::string& sentence) const {
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
  }
};

TEST_F(Environment, VerboseenvSaysEverySettingOnce) {
  const auto outcome = facts(2, {"GASNET_VERBOSEENV=1", "GASNET_NETWORKDEPTH=7"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "GASNET_DRIVER = shm\n"), 1) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "GASNET_NETWORKDEPTH = 7\n"), 1) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "GASNET_BARRIER = DISSEM  (default)\n"), 1) << outcome.err;
  EXPECT_EQ(facts(2, {"GASNET_VERBOSEENV=0"}).err, "");
}

TEST_F(Environment, NetworkdepthIsTaken) {
  EXPECT_EQ(count_of(facts(2, {"GASNET_NETWORKDEPTH=7"}).out, "depth 7,"), 2);
}

TEST_F(Environment, C1_093_MaxSegsizeIsOfAProcessOrOfAHost) {
  const struct {
    const char *given, *limit;
  } cases[] = {{"1MB/P", "limit 1048576,"},
               {"4.0MB/H", "limit 2097152,"},
               {"1MB", "limit 1048576,"},
               {"65536", "limit 65536,"}};
  for (const auto& one : cases) {
    const auto outcome = facts(2, {std::string("GASNET_MAX_SEGSIZE=") + one.given});
    EXPECT_EQ(count_of(outcome.out, one.limit), 2) << one.given << outcome.out << outcome.err;
  }
  expect_refused(facts(2, {"GASNET_MAX_SEGSIZE=1QB"}),
                 "invalid GASNET_MAX_SEGSIZE=\"1QB\": expected");
}

TEST_F(Environment, TmpdirIsWhereTheJobsDirectoryIs) {
  const auto own = facts(1, {});
  EXPECT_NE(own.out.find("job directory " + folder_.path() + "/"), std::string::npos) << own.out;
  const Folder other;
  const auto elsewhere =
      run(command(1, {seq_, "facts"}), {"GASNET_TMPDIR=", "TMPDIR=" + other.path(), mark_});
  EXPECT_NE(elsewhere.out.find("job directory " + other.path() + "/"), std::string::npos)
      << elsewhere.out << elsewhere.err;
  EXPECT_TRUE(entries(other.path(), "").empty());
  expect_refused(run(command(1, {seq_, "facts"}), {"GASNET_TMPDIR=/nowhere", mark_}), "/nowhere");
}

TEST_F(Environment, QuietSilencesWarningsAboutTheEnvironment) {
  const std::string warning = "did you mean GASNET_NETWORKDEPTH?";
  EXPECT_NE(facts(1, {"GASNET_NETWORKDEPHT=9"}).err.find(warning), std::string::npos);
  EXPECT_EQ(facts(1, {"GASNET_NETWORKDEPHT=9", "GASNET_QUIET=1"}).err, "");
}

TEST_F(Environment, ProgramsOfTheClientInheritNoDescriptors) {
  const auto descriptors = [&](const char* driver) {
    return launch(2, {seq_, "descriptors"}, {}, {std::string("GASNET_DRIVER=") + driver});
  };
  const auto shm = descriptors("shm");
  EXPECT_EQ(count_of(shm.out, "a program has "), 1) << shm.out << shm.err;
  if (!has_dpdk_) GTEST_SKIP() << "built without DPDK, which opens many";
  EXPECT_EQ(descriptors("dpdk").out, shm.out);
}

TEST_F(Environment, BarrierChoosesTheAlgorithm) {
  const auto barriers = [&](const char* choice) {
    return launch(3, {seq_, "barriers"}, {},
                  {std::string("GASNET_BARRIER=") + choice, "GASNET_DRIVER=shm"});
  };
  for (const char* lines : {"DISSEM", "PSHM", ""})
    EXPECT_EQ(count_of(barriers(lines).out, "barriers sent no messages"), 1) << lines;
  const auto messages = barriers("AMDISSEM");
  EXPECT_EQ(count_of(messages.out, "barriers sent messages"), 1) << messages.out << messages.err;
  expect_refused(barriers("AMCENTRAL"), "one of DISSEM|AMDISSEM|PSHM");
}

TEST_F(Environment, C1_108_ExittimeoutIsTheTimeToLeaveTogether) {
  const auto late = [&](std::vector<std::string> timeouts, const char* tenths) {
    timeouts.push_back("GASNET_DRIVER=shm");
    return launch(2, {seq_, "leave_late", tenths}, {}, timeouts);
  };
  EXPECT_EQ(count_of(late({"GASNET_EXITTIMEOUT=60"}, "15").out, "no SIGQUIT"), 1);
  EXPECT_EQ(count_of(late({"GASNET_EXITTIMEOUT=0.1"}, "600").out, "saw SIGQUIT"), 1);
  EXPECT_EQ(count_of(late({"GASNET_EXITTIMEOUT_MIN=60"}, "15").out, "no SIGQUIT"), 1);
  EXPECT_EQ(count_of(late({"GASNET_EXITTIMEOUT_FACTOR=30"}, "15").out, "no SIGQUIT"), 1);
  EXPECT_EQ(count_of(late({"GASNET_EXITTIMEOUT_MIN=60", "GASNET_EXITTIMEOUT_MAX=0.1"}, "600").out,
                     "saw SIGQUIT"),
            1);
}

TEST_F(Environment, SupernodeMaxsizeLimitsWhoSharesMemory) {
  if (!has_dpdk_) GTEST_SKIP() << "built without DPDK: there is no other way between ranks";
  const auto outcome = launch(3, {seq_, "drivers"}, {},
                              {"GASNET_SUPERNODE_MAXSIZE=2", "GASNET_DRIVER=auto", kPatience});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* line : {"drivers of 0: self shm dpdk\n", "drivers of 1: shm self dpdk\n",
                           "drivers of 2: dpdk dpdk self\n"})
    EXPECT_EQ(count_of(outcome.out, line), 1) << line << outcome.out << outcome.err;
}

TEST_F(Environment, SupernodeMaxsizeThatIsLargeEnoughChangesNothing) {
  const auto outcome = launch(2, {seq_, "drivers"}, {}, {"GASNET_SUPERNODE_MAXSIZE=2"});
  EXPECT_EQ(count_of(outcome.out, "drivers of 0: self shm\n"), 1) << outcome.out << outcome.err;
}

TEST_F(Environment, SupernodesNeedANetworkBetweenThem) {
  expect_refused(
      launch(2, {seq_, "drivers"}, {}, {"GASNET_SUPERNODE_MAXSIZE=1", "GASNET_DRIVER=shm"}),
      "GASNET_SUPERNODE_MAXSIZE");
  if (!has_dpdk_) return;
  expect_refused(
      launch(2, {seq_, "drivers"}, {}, {"GASNET_SUPERNODE_MAXSIZE=1", "GASNET_BARRIER=PSHM"}),
      "GASNET_BARRIER=PSHM, but not all ranks share memory");
}

TEST_F(Environment, MaxThreadsCountsThoseThatLiveAtOnce) {
  const auto threads = [&](const char* most) {
    return launch(1, {par_, "threads", "4"}, {},
                  {std::string("GASNET_MAX_THREADS=") + most, "GASNET_DRIVER=shm"});
  };
  for (const char* most : {"5", "0"}) {  // with main's
    const auto outcome = threads(most);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  const auto outcome = threads("4");
  EXPECT_EQ(outcome.code, 128 + SIGABRT);
  EXPECT_NE(outcome.err.find("raise GASNET_MAX_THREADS"), std::string::npos) << outcome.err;
}

TEST_F(Environment, HostDetectTellsHostsApart) {
  if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
  if (!has_dpdk_) GTEST_SKIP() << "built without DPDK: there is no other way between hosts";
  const auto probe = launch(1, {"true"}, {"-spawner=netns"});
  if (probe.code != 0) GTEST_SKIP() << "no network namespaces here: " << probe.err;
  const auto drivers = [&](const char* how) {
    return launch(2, {seq_, "drivers"}, {"-spawner=netns"},
                  {std::string("GASNET_HOST_DETECT=") + how, kPatience})
        .out;
  };
  EXPECT_EQ(count_of(drivers("conduit"), "drivers of 0: self dpdk\n"), 1);
  EXPECT_EQ(count_of(drivers("hostname"), "drivers of 0: self shm\n"), 1);
  EXPECT_EQ(count_of(drivers("gethostid"), "drivers of 0: self shm\n"), 1);
}

}  // namespace
}  // namespace pinwire_test

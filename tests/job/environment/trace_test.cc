// GASNET_TRACEFILE, GASNET_STATSFILE and their kin: every kind of event once, over each driver.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class Trace : public Launch {
 protected:
  Outcome traffic(std::vector<std::string> more, const char* then = "",
                  const char* driver = "shm") const {
    more.push_back(std::string("GASNET_DRIVER=") + driver);
    return launch(2, {std::getenv("ENVIRONMENT_SEQ"), "traffic", then}, {}, more);
  }
  std::string file(const std::string& name) const {
    std::ifstream stream(files_.path() + "/" + name);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  std::string to(const char* variable, const char* name) const {
    return std::string(variable) + "=" + files_.path() + "/" + name;
  }
  const Folder files_;
};

TEST_F(Trace, ALineForEachEventInAFileOfEachRank) {
  std::vector<std::string> drivers = {"shm"};
  if (std::getenv("DPDK_BUILT") == std::string("yes")) drivers.push_back("dpdk");
  for (const auto& driver : drivers) {
    const auto outcome = traffic({to("GASNET_TRACEFILE", "t-%")}, "", driver.c_str());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const std::string of_0 = file("t-0"), of_1 = file("t-1");
    for (const char* event :
         {"(P) put_nbi node=1 bytes=2\n", "(P) put node=0 bytes=4\n", "(G) get node=1 bytes=8\n",
          "(G) get_nb node=1 bytes=1\n", "(R) atomic node=1 bytes=8\n",
          "(P) memset node=1 bytes=16\n",
          "(S) sync_wait us=", "(A) request_medium node=1 handler=201 bytes=8\n",
          "(A) reply_short node=1 handler=202 bytes=0\n", "(L) hsl_lock us=", "(L) hsl_unlock\n",
          "(X) poll\n",
          "(B) barrier_notify id=0 us=", "(B) barrier_wait id=0 us=", "(I) GASNET_NETWORKDEPTH = "})
      EXPECT_GE(count_of(of_0, event), 1) << event << of_0;
    EXPECT_EQ(count_of(of_0, "(P) put node=1 bytes=8\n"), 3) << of_0;
    EXPECT_EQ(count_of(of_1, "(A) handler node=0 handler=201 bytes=8\n"), 1) << of_1;
    EXPECT_EQ(count_of(of_1, "(C) " + driver + "."), count_of(of_0, "(C) " + driver + "."));
    EXPECT_GE(count_of(of_1, "(C) " + driver + "."), 2) << of_1;
  }
}

TEST_F(Trace, MaskChoosesLetters) {
  traffic({to("GASNET_TRACEFILE", "t-%"), "GASNET_TRACEMASK=PB"});
  const auto lines = sorted_lines(file("t-0"));
  EXPECT_GE(lines.size(), 8U);
  for (const auto& line : lines)
    EXPECT_TRUE(count_of(line, "(P) ") == 1 || count_of(line, "(B) ") == 1) << line;
  traffic({to("GASNET_TRACEFILE", "u-%"), "GASNET_TRACEMASK=^P"});
  EXPECT_EQ(count_of(file("u-0"), "(P) "), 0);
  EXPECT_GE(count_of(file("u-0"), "(G) "), 2);
}

TEST_F(Trace, NodesChooseRanks) {
  traffic({to("GASNET_TRACEFILE", "t-%"), "GASNET_TRACENODES=1", to("GASNET_STATSFILE", "s-%"),
           "GASNET_STATSNODES=0"});
  EXPECT_EQ(entries(files_.path(), "t-"), std::vector<std::string>{"t-1"});
  EXPECT_EQ(entries(files_.path(), "s-"), std::vector<std::string>{"s-0"});
}

TEST_F(Trace, LocalCanBeLeftOut) {
  traffic({to("GASNET_TRACEFILE", "t-%"), "GASNET_TRACELOCAL=no"});
  EXPECT_EQ(count_of(file("t-0"), "put node=0"), 0);
  EXPECT_EQ(count_of(file("t-0"), "put node=1"), 3);
}

TEST_F(Trace, RanksMayShareAFileAndLinesAreWhole) {
  traffic({to("GASNET_TRACEFILE", "t"), "GASNET_TRACEFLUSH=1"});
  const auto lines = sorted_lines(file("t"));
  EXPECT_GE(lines.size(), 40U);
  int of_1 = 0;
  for (const auto& line : lines) {
    double seconds;
    unsigned rank, thread;
    char letter;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf %u/%u (%c) ", &seconds, &rank, &thread, &letter), 4)
        << line;
    of_1 += rank == 1;
  }
  EXPECT_GT(of_1, 10);
  EXPECT_EQ(count_of(traffic({"GASNET_TRACEFILE=-", "GASNET_TRACEMASK=P"}).err, "(P) put node"), 8);
}

TEST_F(Trace, FlushedLinesSurviveACrash) {
  const auto outcome =
      traffic({to("GASNET_TRACEFILE", "t-%"), "GASNET_TRACEFLUSH=yes"}, "then_die");
  EXPECT_EQ(outcome.code, 128 + SIGABRT);
  EXPECT_GE(count_of(file("t-0"), "(B) barrier_wait"), 2);
}

TEST_F(Trace, StatisticsAreSumsOfEachKind) {
  const auto outcome = traffic({to("GASNET_STATSFILE", "s-%")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string of_0 = file("s-0");
  for (const char* sum :
       {"rank 0 (P) put: 4, bytes total/avg/min/max 28/7/4/8\n",
        "rank 0 (G) get: 1, bytes total/avg/min/max 8/8/8/8\n",
        "rank 0 (P) memset: 1, bytes total/avg/min/max 16/16/16/16\n", "rank 0 (L) hsl_unlock: 1\n",
        "rank 0 (B) barrier_wait: 3, us total/avg/min/max "})
    EXPECT_EQ(count_of(of_0, sum), 1) << sum << of_0;
  traffic({to("GASNET_STATSFILE", "u-%"), "GASNET_STATSMASK=G"});
  for (const auto& line : sorted_lines(file("u-0"))) EXPECT_EQ(count_of(line, "(G) "), 1) << line;
}

/// Letters H and U, N, and what a client may change while it runs.
TEST_F(Trace, TheClientsOwnLines) {
  const auto run_lines = [this](std::vector<std::string> more) {
    return launch(1, {std::getenv("ENVIRONMENT_SEQ"), "lines"}, {}, more);
  };
  const auto outcome = run_lines({to("GASNET_TRACEFILE", "t"), to("GASNET_STATSFILE", "s"),
                                  "GASNET_TRACEMASK=PHNI", "GASNET_STATSMASK=PH"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("enabled 1, callback 1, masks \"PINH\" \"PH\", local 1\n"
                             "at client.c:14\nnow \"G\", enabled 0\n"),
            0U)
      << outcome.out;
  const std::string trace = file("t"), stats = file("s");
  for (const char* line :
       {"(H) said 42\n", "(U) forced line\n", "(P) [client.c:12] put node=0 bytes=4\n",
        "(P) [client.c:12] put node=0 bytes=5\n"})
    EXPECT_EQ(count_of(trace, line), 1) << line << trace;
  EXPECT_EQ(count_of(trace, "(U) forced again\n"), 1) << "N is no longer traced: " << trace;
  EXPECT_EQ(count_of(trace, "bytes=6"), 0) << "local puts were switched off: " << trace;
  EXPECT_EQ(count_of(trace, "masked"), 0) << trace;
  EXPECT_EQ(count_of(trace, "count"), 0) << trace;
  EXPECT_EQ(count_of(stats, "(H) counted 7\n"), 1) << stats;
  EXPECT_EQ(count_of(stats, "(U) forced count\n"), 1) << stats;
  EXPECT_EQ(count_of(stats, "(H) sum of the client\n"), 2)
      << "at the dump and at the end: " << stats;
  EXPECT_EQ(count_of(stats, "(P) put: 2, bytes total/avg/min/max 9/4.5/4/5\n"), 1) << stats;
  EXPECT_EQ(count_of(stats, "(P) put: 1, bytes total/avg/min/max 6/6/6/6\n"), 1)
      << "from 0 after the dump: " << stats;
  EXPECT_EQ(count_of(stats, "said"), 0) << stats;
}

TEST_F(Trace, TheClientsLinesWithoutAFileAndWithoutALetter) {
  const auto outcome = launch(1, {std::getenv("ENVIRONMENT_SEQ"), "lines"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("enabled 0, callback 0, masks \"\" \"\", local 0\n"
                             "at nowhere:0\nnow \"\", enabled 0\n"),
            0U)
      << outcome.out;
  EXPECT_EQ(count_of(outcome.err, "forced"), 0) << outcome.err;
  launch(1, {std::getenv("ENVIRONMENT_SEQ"), "lines"}, {},
         {to("GASNET_TRACEFILE", "t"), "GASNET_TRACEMASK=B"});
  EXPECT_EQ(count_of(file("t"), "(H) "), 0);
  EXPECT_EQ(count_of(file("t"), "(U) forced line\n"), 1) << "no mask keeps it back";
}

TEST_F(Trace, ObjectsAndData) {
  traffic({to("GASNET_TRACEFILE", "t-%"), "GASNET_TRACEMASK=OD"});
  const std::string of_0 = file("t-0");
  for (const char* line : {"(O) driver shm opened with ", "(O) segment of 4096 bytes at ",
                           "(O) handler 201 registered\n", "(D) put 00000000 4 of 4 bytes\n",
                           "(D) request_medium 0000000000000000 8 of 8 bytes\n"})
    EXPECT_EQ(count_of(of_0, line), 1) << line << of_0;
  EXPECT_EQ(count_of(of_0, "(D) put 0000000000000000 8 of 8 bytes\n"), 3) << of_0;
  EXPECT_EQ(count_of(of_0, "(P) ") + count_of(of_0, "(A) "), 0) << of_0;
}

TEST_F(Trace, LettersThatRecordNothingSaySo) {
  const auto outcome = traffic({to("GASNET_TRACEFILE", "t-%"), "GASNET_TRACEMASK=W"});
  EXPECT_EQ(count_of(outcome.err, "GASNET_TRACEMASK: W records nothing"), 1) << outcome.err;
  traffic({to("GASNET_TRACEFILE", "u-%"), "GASNET_TRACEMASK=I"});
  EXPECT_EQ(count_of(file("u-1"), "(I) letter W records nothing"), 1);
}

TEST_F(Trace, AFileThatCannotBeOpenedGetsASentence) {
  const auto outcome = traffic({"GASNET_TRACEFILE=/nowhere/t"});
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("GASNET_TRACEFILE names /nowhere/t, which cannot be opened"),
            std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace pinwire_test

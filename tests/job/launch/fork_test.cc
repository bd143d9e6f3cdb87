// Jobs of this host, started and ended by the launcher.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/job/launch/held_program.h"
#include "tests/job/launch/launch_fixture.h"
#include "tests/job/launch/unread_pipe.h"

namespace pinwire_test {
namespace {

TEST_F(Launch, BarriersHold) {
  const auto outcome = launch(3, {rank_, "barriers", "3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("in order"), std::string::npos);
}

TEST_F(Launch, GathersAndBarriers) {
  const auto outcome = launch(4, {rank_, "gather", "1000", "20"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(
      sorted_lines(outcome.out),
      (std::vector<std::string>{"launcher rank 0 of 4 key yes", "launcher rank 1 of 4 key yes",
                                "launcher rank 2 of 4 key yes", "launcher rank 3 of 4 key yes"}));
}

TEST_F(Launch, GathersMegabytesThroughFullSockets) {
  const auto outcome = launch(3, {rank_, "gather", "1000000", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "launcher rank"), 3);
}

TEST_F(Launch, RanksShareAKeyAndJobsDoNot) {
  const auto first = launch(3, {rank_, "keys"});
  const auto second = launch(1, {rank_, "keys"});
  const auto keys = sorted_lines(first.out);
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], keys[2]);
  EXPECT_NE(first.out.substr(0, 20), second.out.substr(0, 20));
}

TEST_F(Launch, C1_115_TheEnvironmentOfTheLauncherReachesAllRanks) {
  const auto outcome = launch(2, {rank_, "environment", "FRUIT"}, {}, {"FRUIT=a pear = good"});
  EXPECT_EQ(outcome.out, "FRUIT=a pear = good\nFRUIT=a pear = good\n");
}

// A layout that is not random is bit 0x40000 of personality(2). Containers may forbid it.
TEST_F(Launch, NoAslrGivesEveryRankOneLayout) {
  const std::vector<std::string> show{"cat", "/proc/self/personality"};
  EXPECT_EQ(launch(2, show).out, "00000000\n00000000\n");
  const auto outcome = launch(2, show, {"--no-aslr"});
  if (outcome.err.find("personality(2)): Operation not permitted") != std::string::npos) {
    GTEST_SKIP() << "personality(2) is forbidden here";
  }
  EXPECT_EQ(outcome.out, "00040000\n00040000\n") << outcome.err;
}

// The library goes on over shared memory, and others of its peers' waits have no end: the job is
// left alone.
TEST_F(Launch, ARankThatLivesOnWithoutTheLibrarysDescriptorsIsNamed) {
  const auto outcome = launch(2, {rank_, "becomes", "sleep", "4"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(count_of(outcome.err, "lives, but closed the descriptors of the library"), 2)
      << outcome.err;
  EXPECT_EQ(launch(2, {"sleep", "2"}).err, "") << "no client";
}

TEST_F(Launch, AJobThatEndedWellStartsAgainInAnotherEnvironment) {
  const auto outcome = launch(2, {rank_, "again", "3", "7", "0"}, {}, {"LIFE=1", kPatience});
  EXPECT_EQ(outcome.code, 7) << outcome.err;
  EXPECT_EQ(sorted_lines(outcome.out),
            (std::vector<std::string>{"rank 0, life 1", "rank 0, life 2", "rank 0, life 3",
                                      "rank 1, life 1", "rank 1, life 2", "rank 1, life 3"}));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Launch, AJobThatEndedBadlyDoesNotStartAgain) {
  const auto outcome = launch(2, {rank_, "again", "3", "7", "5"}, {}, {"LIFE=1", kPatience});
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "life 1"), 2);
  EXPECT_EQ(count_of(outcome.out, "life 2"), 0);
}

TEST_F(Launch, C1_101_TheCodeIsOneOfThose) {
  const auto outcome = launch(3, {rank_, "all-leave", "4"}, {}, {kPatience});
  EXPECT_GE(outcome.code, 4);
  EXPECT_LE(outcome.code, 6);
  EXPECT_EQ(outcome.out, "") << "a collective exit sees no SIGQUIT";
}

struct Deed {
  const char* name;
  std::vector<std::string> words;
  int code;
  const char* sentence;
};
void PrintTo(const Deed& deed, std::ostream* out) { *out << deed.name; }

class LaunchEnd : public Launch, public testing::WithParamInterface<Deed> {};

TEST_P(LaunchEnd, C1_103_TheOthersGetSigquitAndAreGoneInTime) {
  for (const char* rank : {"0", "2"}) {
    auto words = std::vector<std::string>{rank_, "one", rank};
    words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
    const auto outcome = launch(4, words);
    EXPECT_EQ(outcome.code, GetParam().code) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "got SIGQUIT"), 3) << outcome.out;
    EXPECT_NE(outcome.err.find(GetParam().sentence), std::string::npos) << outcome.err;
    EXPECT_LT(outcome.seconds, kGoneSeconds);
  }
}

TEST_P(LaunchEnd, StubbornRanksAreKilled) {
  auto words = std::vector<std::string>{rank_, "one", "1"};
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  const auto outcome = launch(3, words, {}, {"STUBBORN=1"});
  EXPECT_EQ(outcome.code, GetParam().code) << outcome.err;
  EXPECT_LT(outcome.seconds, kGoneSeconds);
}

INSTANTIATE_TEST_SUITE_P(
    Deeds, LaunchEnd,
    testing::Values(
        Deed{"leave7", {"leave", "7"}, 7, ""}, Deed{"leave0", {"leave", "0"}, 0, ""},
        Deed{"exit3", {"_exit", "3"}, 3, "exited with code 3 without gasnet_exit"},
        Deed{"exit0", {"_exit", "0"}, 0, ""},
        Deed{"kill", {"kill"}, 128 + SIGKILL, "was killed by signal 9 (Killed)"},
        Deed{"segv", {"segv"}, 128 + SIGSEGV, "was killed by signal 11 (Segmentation fault)"},
        Deed{"abort", {"abort"}, 128 + SIGABRT, "was killed by signal 6 (Aborted)"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(Launch, KilledLauncherTakesAllWithIt) {
  Running job(command(3, {rank_, "wait"}), environment());
  ASSERT_TRUE(job.wait_for("waiting", 3));
  ::kill(job.process(), SIGKILL);
  EXPECT_TRUE(gone(mark_, kGoneSeconds));
  EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds));
}

/// Its number may be another child's by the time the job ends.
TEST_F(Launch, AKilledJanitorLeavesItsWorkToTheLauncher) {
  Running job(command(2, {"sh", "-c", "echo waiting; read line; exit 0"}), environment());
  ASSERT_TRUE(job.wait_for("waiting", 2));
  const int janitor = janitor_of(job.process());
  ASSERT_GT(janitor, 1);
  ::kill(janitor, SIGKILL);
  const auto sentence = "the job's janitor (process " + std::to_string(janitor) +
                        ") was killed by signal 9 (Killed): were this process killed, too, ";
  EXPECT_TRUE(job.wait_for_error(sentence, 1)) << job.err();
  job.tell("on\n");
  EXPECT_EQ(job.wait().code, 0);
}

/// It would sweep in vain for ever.
TEST_F(Launch, AStoppedJanitorDoesNotHoldTheJob) {
  Running job(command(2, {"sh", "-c", "echo waiting; read line; exit 0"}), environment());
  ASSERT_TRUE(job.wait_for("waiting", 2));
  const int janitor = janitor_of(job.process());
  ASSERT_GT(janitor, 1);
  ::kill(janitor, SIGSTOP);
  ASSERT_TRUE(comes_into_state(janitor, 'T'));
  job.tell("on\n");
  EXPECT_EQ(job.wait().code, 0);
}

/// A process that stops the janitor each time it goes on keeps its directory, and holds nobody.
TEST_F(Launch, AJanitorThatIsStoppedAgainAndAgainDoesNotHoldTheJob) {
  const char* const fills =
      "cd $GASNET_JOB_DIR && seq 20000 | xargs touch; echo waiting; read line";
  Running job(command(1, {"sh", "-c", fills}), environment());
  ASSERT_TRUE(job.wait_for("waiting", 1));
  const int janitor = janitor_of(job.process());
  ASSERT_GT(janitor, 1);
  ::kill(janitor, SIGSTOP);
  ASSERT_TRUE(comes_into_state(janitor, 'T'));
  std::atomic<bool> is_over = false;
  std::thread stops([&] {
    while (!is_over && ::kill(janitor, SIGSTOP) == 0) ::usleep(50);
  });
  job.tell("on\n");
  const auto outcome = job.wait();
  is_over = true;
  stops.join();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto left = entries(folder_.path(), "pinwire-job-");
  const auto warning = "the job's janitor (process " + std::to_string(janitor) +
                       ") does not come to an end with the job's directory ";
  EXPECT_EQ(count_of(outcome.err, warning), static_cast<int>(left.size())) << outcome.err;
  if (left.empty()) return;  // on a busy machine it may have had the time
  EXPECT_EQ(count_of(outcome.err, left[0] + ": somebody stops it again and again"), 1)
      << outcome.err;
  ::kill(janitor, SIGCONT);
  EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds));
}

/// The ranks of the inner job are none of the outer one's.
TEST_F(Launch, ARankMayStartAJobOfItsOwn) {
  std::vector<std::string> words = {"sh", "-c", "exec \"$@\"", "sh"};
  for (const auto& word : command(2, {rank_, "gather", "10", "1"})) words.push_back(word);
  const auto outcome = launch(2, words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

/// PMIx's variables of those who started the launcher are farther than it; those that come between
/// it and a rank are nearer. (Nobody serves PMIx here.)
TEST_F(Launch, TheNearerOfTwoLaunchersCounts) {
  const std::vector<std::string> outer = {"PMIX_NAMESPACE=outer", "PMIX_RANK=0"};
  const auto inside =
      launch(2, {"sh", "-c", "\"$@\"; exit $?", "sh", rank_, "gather", "10", "1"}, {}, outer);
  EXPECT_EQ(inside.code, 0) << inside.err;
  EXPECT_EQ(count_of(inside.out, "launcher rank"), 2) << inside.out;
  const auto outside = launch(
      1, {"env", "PMIX_NAMESPACE=inner", "PMIX_RANK=0", rank_, "gather", "10", "1"}, {}, outer);
  EXPECT_NE(outside.code, 0) << outside.out;
  EXPECT_EQ(count_of(outside.out, "launcher rank"), 0) << outside.out;
}

/// The inner janitor is no process of the outer job, so it sweeps up when its launcher is killed.
TEST_F(Launch, AKilledLauncherTakesJobsOfItsRanksWithIt) {
  std::vector<std::string> words = {"sh", "-c", "exec \"$@\"", "sh"};
  const auto inner = "setsid -f sleep 1000; echo waiting; exec sleep 1000";
  for (const auto& word : command(1, {"sh", "-c", inner})) words.push_back(word);
  for (int i = 0; i < 3; ++i) {
    Running job(command(1, words), environment());
    ASSERT_TRUE(job.wait_for("waiting", 1));
    ::kill(job.process(), SIGKILL);
    EXPECT_TRUE(gone(mark_, kGoneSeconds));
    EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds));
    for (const int left : processes_with(mark_)) ::kill(left, SIGKILL);
  }
}

/// It passes the launcher's look at it, and the kernel refuses it: the other ranks, which may run
/// already, are killed.
TEST_F(Launch, AProgramThatCannotBeExecutedEndsTheJobWithASentence) {
  const Folder files;
  const auto program = files.path() + "/program";
  std::ofstream(program) << "no program\n";
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  const auto outcome = launch(3, {program});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(count_of(outcome.err, program + " cannot be executed: Exec format error"), 1)
      << outcome.err;
}

TEST_F(Launch, C1_104_SigtermEndsTheJob) {
  Running job(command(3, {rank_, "wait"}), environment());
  ASSERT_TRUE(job.wait_for("waiting", 3));
  ::kill(job.process(), SIGTERM);
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 128 + SIGTERM);
}

TEST_F(Launch, SigintTwiceKills) {
  Running job(command(2, {"sh", "-c", "trap '' INT; echo waiting; while :; do sleep 0.05; done"}),
              environment());
  ASSERT_TRUE(job.wait_for("waiting", 2));
  ::kill(job.process(), SIGINT);
  ::usleep(100'000);
  ASSERT_EQ(::kill(job.process(), 0), 0) << "the first one is the ranks' own business";
  ::kill(job.process(), SIGINT);
  EXPECT_EQ(job.wait().code, 128 + SIGINT);
}

/// The file system's server seems not to answer.
TEST_F(Launch, AProgramThatDoesNotStartKeepsNobodyFromEndingTheJob) {
  const HeldProgram program;
  if (!program.is_held()) GTEST_SKIP() << "no lease on a file here";
  Running job(command(2, {program.path()}), environment());
  ASSERT_TRUE(program.is_asked_for());
  ::kill(job.process(), SIGTERM);
  const auto outcome = job.wait(HeldProgram::kHeldS);
  EXPECT_EQ(outcome.code, 128 + SIGTERM) << outcome.err;
}

TEST_F(Launch, LinesAreNeverMixed) {
  const auto outcome = launch(4, {rank_, "lines", "2000"});
  EXPECT_EQ(outcome.code, 0);
  for (const auto* text : {&outcome.out, &outcome.err}) {
    const auto lines = sorted_lines(*text);
    EXPECT_EQ(lines.size(), 4000U);
    for (const auto& line : lines) {
      ASSERT_EQ(line.rfind("rank ", 0), 0U) << line;
      ASSERT_EQ(line.substr(line.size() - 61), " " + std::string(60, 'x')) << line;
    }
  }
}

TEST_F(Launch, PartialLastLinesAndTags) {
  const auto outcome = launch(1, {"sh", "-c", "echo one; printf two"}, {"--tag"});
  EXPECT_EQ(outcome.out, "[0] one\n[0] two");
}

TEST_F(Launch, StandardInputIsOfRank0) {
  const auto outcome = launch(3, {"cat"}, {}, {}, "to rank 0\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "to rank 0\n");
}

/// It reads that of the launcher itself, and is told itself.
TEST_F(Launch, StandardInputThatCannotBeReadIsRank0sOwnAffair) {
  const auto unread = run(in_shell("exec \"$@\" < /", command(2, {"true"})), environment());
  EXPECT_EQ(unread.code, 0) << unread.err;
  const auto read = run(in_shell("exec \"$@\" < /", command(2, {"cat"})), environment());
  EXPECT_EQ(read.code, 1);
  EXPECT_EQ(count_of(read.err, "Is a directory"), 1) << read.err;
}

TEST_F(Launch, AnyProgramMayRun) {
  const auto outcome = launch(3, {"sh", "-c", "sleep 0.$GASNET_JOB_RANK; echo done"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "done\ndone\ndone\n");
}

TEST_F(Launch, ProcessesThatRanksLeaveBehindAreKilled) {
  const auto outcome = launch(2, {"sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo done"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "done\ndone\n");
}

/// Whether it is there and has not ended.
bool runs(int process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  return std::getline(status, line) && line[line.rfind(')') + 2] != 'Z';
}

TEST_F(Launch, ChildrenThatItHadBeforeItStartedAreNoneOfTheJobs) {
  // The job, too, leaves an orphan, and that one is killed.
  const auto job = command(1, {"sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo done"});
  const auto outcome =
      run(in_shell("sleep 1001 >/dev/null 2>&1 & echo $!; exec \"$@\"", job), environment());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const int monitor = std::atoi(outcome.out.c_str());
  ASSERT_GT(monitor, 1);
  EXPECT_EQ(outcome.out, std::to_string(monitor) + "\ndone\n");
  EXPECT_TRUE(runs(monitor));
  const auto marked = processes_with(mark_);
  EXPECT_EQ(marked, std::vector<int>{monitor});
  ::kill(monitor, SIGKILL);
}

TEST_F(Launch, AFilterOfItsOutputGetsAllOfIt) {
  Folder seen;
  const auto job =
      command(2, {"sh", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i; done"});
  // As bash has it for `> >(filter)`: the filter is a child of the process that becomes the
  // launcher.
  const auto line = "mkfifo " + seen.path() + "/pipe; (sleep 0.3; cat; : > " + seen.path() +
                    "/end) < " + seen.path() + "/pipe > " + seen.path() + "/log & exec \"$@\" > " +
                    seen.path() + "/pipe";
  const auto outcome = run(in_shell(line, job), environment());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const double until = now_s() + kGoneSeconds;
       entries(seen.path(), "end").empty() && now_s() < until;)
    ::usleep(5000);
  std::ifstream log(seen.path() + "/log");
  std::string one;
  int lines = 0;
  while (std::getline(log, one)) ++lines;
  EXPECT_EQ(lines, 2000);
}

constexpr const char* kTellsOfSignals =
    "trap 'echo got USR1' USR1; trap 'echo got USR2; exit 0' USR2; trap 'echo got ALRM' ALRM; "
    "echo waiting; while :; do sleep 0.05; done";

TEST_F(Launch, TheUsersOwnSignalsReachTheRanksAndAnAlarmNobody) {
  Running job(command(2, {"sh", "-c", kTellsOfSignals}), environment({kPatience}));
  ASSERT_TRUE(job.wait_for("waiting", 2));
  ::kill(job.process(), SIGALRM);
  ::kill(job.process(), SIGUSR1);
  EXPECT_TRUE(job.wait_for("got USR1", 2));
  ::kill(job.process(), SIGUSR2);
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "got USR2"), 2);
  EXPECT_EQ(count_of(outcome.out, "got ALRM"), 0);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Launch, RanksThatDieOfTheUsersSignalAreNamed) {
  Running job(command(1, {"sh", "-c", "echo waiting; exec sleep 1000"}), environment());
  ASSERT_TRUE(job.wait_for("waiting", 1));
  ::kill(job.process(), SIGUSR1);
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 128 + SIGUSR1);
  EXPECT_NE(outcome.err.find("was killed by signal 10"), std::string::npos) << outcome.err;
}

TEST_F(Launch, ItStopsAndGoesOnWithItsRanks) {
  Running job(command(2, {"sh", "-c", "echo rank $$; read line; echo got $line"}), environment());
  ASSERT_TRUE(job.wait_for("rank ", 2));
  ASSERT_TRUE(job.wait_for("\n", 2));
  ::kill(job.process(), SIGTSTP);
  EXPECT_TRUE(comes_into_state(job.process(), 'T'));
  const int rank = std::atoi(job.out().c_str() + job.out().find("rank ") + 5);
  // Rank 1 has no standard input and may have ended; the other one waits.
  std::vector<int> ranks = {rank, std::atoi(job.out().c_str() + job.out().rfind("rank ") + 5)};
  const auto stopped = [](int one) { return comes_into_state(one, 'T'); };
  EXPECT_TRUE(std::any_of(ranks.begin(), ranks.end(), stopped));
  ::kill(job.process(), SIGCONT);
  job.tell("on\n");
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "got on"), 1);
}

TEST_F(Launch, OutputThatIsLostOnAFullDiskShowsInTheCode) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  const auto good =
      run(in_shell("exec \"$@\" > /dev/full", command(2, {"echo", "lost"})), environment());
  EXPECT_EQ(good.code, 1);
  EXPECT_EQ(count_of(good.err, "cannot write standard output: No space left on device"), 1)
      << good.err;
  const auto bad =
      run(in_shell("exec \"$@\" 2> /dev/full", command(1, {"sh", "-c", "echo lost >&2; exit 3"})),
          environment());
  EXPECT_EQ(bad.code, 3);
  const auto silent = run(in_shell("exec \"$@\" > /dev/full", command(2, {"true"})), environment());
  EXPECT_EQ(silent.code, 0) << "nothing was lost";
  for (const char* option : {"--help", "--help-env", "--version"}) {
    const auto shown = run(in_shell("exec \"$@\" > /dev/full", {std::getenv("GASNETRUN"), option}));
    EXPECT_EQ(shown.code, 1) << option;
    EXPECT_EQ(count_of(shown.err, "No space left on device"), 1) << shown.err;
  }
}

/// Ranks that say nothing have lost nothing.
TEST_F(Launch, WordsOfItsOwnThatAreLostAreNoFailureOfTheJob) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "there is no /dev/full";
  const auto silent =
      run(in_shell("exec \"$@\" 2> /dev/full", command(2, {"true"}, {"-v"})), environment());
  EXPECT_EQ(silent.code, 0);
  const auto lost =
      run(in_shell("exec \"$@\" 2> /dev/full", command(1, {"sh", "-c", "echo lost >&2"}, {"-v"})),
          environment());
  EXPECT_EQ(lost.code, 1);
}

/// A pipe holds less than all of it.
TEST_F(Launch, WhatWouldBeStartedIsSaidToTheEndThoughItsReaderIsSlow) {
  constexpr int kHosts = 3000;
  std::string hosts = "h0";
  for (int host = 1; host < kHosts; ++host) hosts += ",h" + std::to_string(host);
  const UnreadPipe pipe;
  Running job(in_shell("exec \"$@\" 2> " + pipe.path(),
                       command(kHosts, {"true"}, {"-t", "--hosts", hosts})),
              environment());
  constexpr int kNearlyFullBytes = 60'000;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (int unread_bytes = 0; unread_bytes < kNearlyFullBytes;) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    ASSERT_EQ(::ioctl(pipe.reader(), FIONREAD, &unread_bytes), 0);
    ::usleep(1000);
  }
  EXPECT_TRUE(comes_into_state(job.process(), 'S')) << "it has ended";
  std::string said;
  pipe.read_rest([&](std::string_view part) { said += part; });
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), kHosts);
  EXPECT_EQ(job.wait().code, 0);
}

TEST_F(Launch, AFileThatMayGrowNoMoreShowsInTheCode) {
  const auto line = "ulimit -f 1; exec \"$@\" > " + folder_.path() + "/../" +
                    std::filesystem::path(folder_.path()).filename().string() + ".out";
  const auto outcome =
      run(in_shell(line, command(1, {"head", "-c", "100000", "/dev/zero"})), environment());
  std::filesystem::remove(folder_.path() + ".out");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(count_of(outcome.err, "cannot write standard output: File too large"), 1)
      << outcome.err;
}

TEST_F(Launch, RanksGetSigpipeWhenNobodyReadsTheirOutput) {
  const auto line = "{ \"$@\"; echo code $? >&2; } | head -n 1";
  const auto outcome = run(in_shell(line, command(2, {"yes"})), environment());
  EXPECT_EQ(outcome.out, "y\n");
  EXPECT_EQ(outcome.err, "code " + std::to_string(128 + SIGPIPE) + "\n");
}

/// All ranks have ended, and the reader of what they left takes nothing.
TEST_F(Launch, AReaderThatTakesNothingKeepsNobodyFromEndingTheLauncher) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const Folder seen;
    const UnreadPipe pipe;
    const auto done = seen.path() + "/done";
    const auto rank = "head -c 500000 /dev/zero; : > " + done;
    Running job(in_shell("exec \"$@\" > " + pipe.path(), command(1, {"sh", "-c", rank})),
                environment());
    while (entries(seen.path(), "done").empty()) ::usleep(1000);
    // Its janitor is the last of its children.
    while (children_of(job.process()).size() > 1) ::usleep(1000);
    ::kill(job.process(), number);
    EXPECT_EQ(job.wait(kGoneSeconds).code, 128 + number);
  }
}

/// Its ranks still write when their user ends them.
TEST_F(Launch, OneSignalEndsAJobWhoseReaderTakesNothing) {
  for (const int number : {SIGTERM, SIGHUP}) {
    const Folder seen;
    const UnreadPipe pipe;
    const auto done = seen.path() + "/done";
    const auto rank = "head -c 500000 /dev/zero; : > " + done + "; exec cat /dev/zero";
    Running job(in_shell("exec \"$@\" > " + pipe.path(), command(1, {"sh", "-c", rank})),
                environment());
    while (entries(seen.path(), "done").empty()) ::usleep(1000);
    ::kill(job.process(), number);
    EXPECT_EQ(job.wait(kGoneSeconds).code, 128 + number);
  }
}

/// Nor does it wait for room for its own sentence.
TEST_F(Launch, ASentenceThatNobodyReadsHoldsNoLauncherThatGetsASignal) {
  const Folder seen;
  const UnreadPipe pipe;
  const auto done = seen.path() + "/done";
  const auto rank = "head -c 300000 /dev/zero >&2; : > " + done + "; exit 3";
  Running job(in_shell("exec \"$@\" 2> " + pipe.path(), command(1, {"sh", "-c", rank})),
              environment());
  while (entries(seen.path(), "done").empty()) ::usleep(1000);
  // Its janitor is the last of its children; then it says that its rank has exited with code 3.
  while (children_of(job.process()).size() > 1) ::usleep(1000);
  ::kill(job.process(), SIGTERM);
  EXPECT_EQ(job.wait(kGoneSeconds).code, 128 + SIGTERM);
}

TEST_F(Launch, StandardFilesMayBeClosed) {
  for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"}) {
    const auto job = command(2, {"sh", "-c", "cat; echo out; echo err >&2"});
    const auto outcome = run(in_shell(std::string("exec \"$@\" ") + closed, job), environment());
    const bool no_out = std::string(closed).find(">&-") == 0 || count_of(closed, " >&-") > 0;
    const bool no_err = count_of(closed, "2>&-") > 0;
    EXPECT_EQ(outcome.code, 0) << closed;
    EXPECT_EQ(outcome.out, no_out ? "" : "out\nout\n") << closed;
    EXPECT_EQ(outcome.err, no_err ? "" : "err\nerr\n") << closed;
  }
}

TEST_F(Launch, BadCommandLinesGetASentence) {
  const struct {
    std::vector<std::string> words;
    const char* sentence;
  } cases[] = {
      {{"-n", "2"}, "no program is named"},
      {{"-n", "0", "true"}, "invalid -n \"0\": expected a whole number from 1 to 65536"},
      {{"-n", "1e9", "true"}, "invalid -n \"1e9\": expected a whole number"},
      {{"-n", "9999999", "true"}, "invalid -n \"9999999\": expected a whole number"},
      {{"true"}, "-n RANKS is missing"},
      {{"-n", "2", "--frob", "true"}, "unknown option \"--frob\""},
      {{"-n", "2", "no-such-program"}, "no program \"no-such-program\""},
      {{"-n", "2", "/etc/passwd"}, "not executable"},
      {{"-n", "2", "/nowhere/prog"}, "No such file"},
      {{"-n", "2", "-spawner=pigeon", "true"}, "invalid -spawner=\"pigeon\": expected one of"},
      {{"-n", "2", "--driver", "floppy", "true"}, "invalid GASNET_DRIVER=\"floppy\""},
      {{"-n"}, "needs a value"}};
  for (const auto& one : cases) {
    auto words = one.words;
    words.insert(words.begin(), std::getenv("GASNETRUN"));
    const auto outcome = run(words, environment());
    EXPECT_EQ(outcome.code, 2) << one.sentence;
    EXPECT_NE(outcome.err.find(one.sentence), std::string::npos) << outcome.err;
  }
}

TEST_F(Launch, WhatIsAskedForInVainGetsAWarning) {
  const auto many = launch(2, {"true"}, {"-N", "2"});
  EXPECT_EQ(many.code, 0);
  EXPECT_EQ(count_of(many.err, "-N has no effect"), 1) << many.err;
  const auto named = launch(2, {"true"}, {"--hosts", "a,b", "-spawner=fork"});
  EXPECT_EQ(named.code, 0);
  EXPECT_EQ(count_of(named.err, "the hosts named have no effect"), 1) << named.err;
  const auto fine =
      launch(2, {"true"}, {"-N", "1"}, {"GASNET_SSH_SERVERS=a,b", "GASNET_SPAWNER=fork"});
  EXPECT_EQ(fine.code, 0);
  EXPECT_EQ(count_of(fine.err, "no effect"), 0) << fine.err;
}

TEST_F(Launch, AMisspeltVariableGetsAHint) {
  const auto outcome = launch(1, {"true"}, {}, {"GASNET_DRIVR=shm"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("GASNET_DRIVR: did you mean GASNET_DRIVER?"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace pinwire_test

// Jobs on several hosts, with a program in ssh's place that runs its command here.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/job/launch/rank_frame.h"
#include "tests/job/launch/ssh_fixture.h"
#include "tests/job/launch/unread_pipe.h"

namespace pinwire_test {
namespace {

TEST_F(Ssh, BarriersHold) {
  const auto outcome = ssh(4, {rank_, "barriers", "4"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("in order"), std::string::npos);
}

TEST_F(Ssh, GathersAcrossHosts) {
  const auto outcome = ssh(5, {rank_, "gather", "100000", "5"}, {"--hosts", "n0,n1,n2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "launcher rank"), 5) << outcome.out;
}

TEST_F(Ssh, RanksAreInBlocksOverTheHosts) {
  const auto outcome = ssh(5, {"sh", "-c", "echo $GASNET_JOB_RANK $FAKE_HOST"});
  EXPECT_EQ(sorted_lines(outcome.out),
            (std::vector<std::string>{"0 n0", "1 n0", "2 n0", "3 n1", "4 n1"}));
}

TEST_F(Ssh, NoAslrReachesTheHosts) {
  const auto outcome = ssh(2, {"cat", "/proc/self/personality"}, {"--hosts", "n0,n1", "--no-aslr"});
  if (outcome.err.find("personality(2)): Operation not permitted") != std::string::npos) {
    GTEST_SKIP() << "personality(2) is forbidden here";
  }
  EXPECT_EQ(outcome.out, "00040000\n00040000\n") << outcome.err;
}

TEST_F(Ssh, HostFileAndMinusN) {
  const std::string list =
      "/tmp/" + std::filesystem::path(folder_.path()).filename().string() + ".hosts";
  std::ofstream(list) << "# our hosts\nn7  # the fast one\nn7\n\nn8\nn9\n";
  const auto outcome = ssh(2, {"sh", "-c", "echo $FAKE_HOST"}, {"--hostfile", list, "-N", "2"});
  std::filesystem::remove(list);
  EXPECT_EQ(sorted_lines(outcome.out), (std::vector<std::string>{"n7", "n8"})) << outcome.err;
}

TEST_F(Ssh, AnIpv6AddressMayHaveTheBracketsOfAUrl) {
  const auto outcome =
      ssh(2, {"sh", "-c", "echo $FAKE_HOST"}, {"--hosts", "[::1],fe80::1%eth0,::1"});
  EXPECT_EQ(sorted_lines(outcome.out), (std::vector<std::string>{"::1", "fe80::1%eth0"}))
      << outcome.err;
}

TEST_F(Ssh, WordsOfAHostFileThatItDoesNotTakeGetASentence) {
  Folder lists;
  std::ofstream(lists.path() + "/hosts") << "n7 slots=2\n";
  const auto outcome = ssh(2, {"true"}, {"--hostfile", lists.path() + "/hosts"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("says \"slots=2\" of n7"), std::string::npos) << outcome.err;
}

TEST_F(Ssh, VariablesAndTheWorkingDirectoryArrive) {
  const auto outcome =
      ssh(2, {"sh", "-c", "echo \"$GASNET_NETWORKDEPTH $FRUIT=$PEAR $(pwd)\""},
          {"--hosts", "n0", "-E", "FRUIT"}, {"GASNET_NETWORKDEPTH=7", "FRUIT=it's", "PEAR=no"});
  const auto line = "7 it's= " + std::filesystem::current_path().string() + "\n";
  EXPECT_EQ(outcome.out, line + line) << outcome.err;
}

TEST_F(Ssh, C1_115_TheEnvironmentOfTheLauncherReachesAllRanks) {
  const auto outcome = ssh(2, {rank_, "environment", "PEAR"}, {"--hosts", "n0,n1"}, {"PEAR=ripe"});
  EXPECT_EQ(outcome.out, "PEAR=ripe\nPEAR=ripe\n");
}

TEST_F(Ssh, RanksOfOtherHostsCannotAskForAnotherStart) {
  const auto outcome =
      ssh(2, {rank_, "again", "3", "7", "0"}, {"--hosts", "n0,n1"}, {"LIFE=1", kPatience});
  EXPECT_EQ(outcome.code, 7) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "life 1, the last"), 2) << outcome.out;
}

TEST_F(Ssh, StandardInputReachesRank0) {
  const std::string input(300000, 'i');
  const auto outcome = ssh(3, {"cat"}, {"--hosts", "n0,n1"}, {}, input);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.size(), input.size());
}

TEST_F(Ssh, StandardInputThatCannotBeReadShowsInTheCode) {
  const auto from_a_directory = [this](const char* words) {
    return run(in_shell("exec \"$@\" < /", command(1, {"sh", "-c", words}, {"--hosts", "n0"})),
               environment(with_ssh()));
  };
  const auto good = from_a_directory("cat; echo the end");
  EXPECT_EQ(good.code, 1);
  EXPECT_EQ(good.out, "the end\n") << "rank 0 waits for no more";
  EXPECT_EQ(count_of(good.err, "cannot read standard input: Is a directory; rank 0 gets no more"),
            1)
      << good.err;
  EXPECT_EQ(from_a_directory("cat; exit 3").code, 3);
}

TEST_F(Ssh, StandardInputThatNobodyReadsIsNoTrouble) {
  for (int round = 0; round < 3; ++round) {
    const auto outcome =
        run(in_shell("yes | { \"$@\"; echo code $?; }", command(1, {"true"}, {"--hosts", "n0"})),
            environment(with_ssh()));
    EXPECT_EQ(outcome.out, "code 0\n") << outcome.err;
  }
}

/// The end of its process and the reason may come in one turn of the agent's loop.
TEST_F(Ssh, AProgramThatCannotBeExecutedThereGetsASentence) {
  const Folder files;
  const auto program = files.path() + "/program";
  std::ofstream(program) << "no program\n";
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  for (int round = 0; round < 10; ++round) {
    const auto outcome = ssh(1, {program}, {"--hosts", "n0"});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(count_of(outcome.err, "cannot be executed: Exec format error"), 1) << outcome.err;
  }
}

/// It comes bit by bit after the ranks have ended, while their host's connection does.
TEST_F(Ssh, StandardInputThatComesAfterTheEndIsNoTrouble) {
  const Folder files;
  const auto done = files.path() + "/done";
  const auto line = "{ while ! [ -e " + done +
                    " ]; do sleep 0.01; done; sleep 0.3; while echo; do sleep 0.01; done; } | "
                    "{ \"$@\"; echo code $?; }";
  const auto rank = std::vector<std::string>{"sh", "-c", ": > " + done};
  const auto outcome =
      run(in_shell(line, command(1, rank, {"--hosts", "late"})), environment(with_ssh()));
  EXPECT_EQ(outcome.out, "code 0\n") << outcome.err;
}

constexpr size_t kFileBytes = 64 << 20, kUnderWayBytesMax = 1 << 20;

/// `words` with a new file of kFileBytes in `files` as standard input.
std::vector<std::string> with_large_input(const Folder& files,
                                          const std::vector<std::string>& words) {
  const auto file = files.path() + "/input";
  std::ofstream(file).close();
  std::filesystem::resize_file(file, kFileBytes);
  return in_shell("exec \"$@\" < " + file, words);
}

/// How far the launcher has read the file that is its standard input.
size_t input_position(int launcher) {
  std::ifstream facts("/proc/" + std::to_string(launcher) + "/fdinfo/0");
  std::string word;
  size_t position = 0;
  facts >> word >> position;
  return position;
}

/// It waits where it is, not in the memory of launcher and agent.
TEST_F(Ssh, StandardInputWaitsUntilRank0ReadsIt) {
  Folder files;
  const auto counts = "echo up; while ! [ -e " + files.path() + "/go ]; do sleep 0.05; done; wc -c";
  Running job(with_large_input(files, command(1, {"sh", "-c", counts}, {"--hosts", "n0"})),
              environment(with_ssh()));
  ASSERT_TRUE(job.wait_for("up", 1));
  size_t position = 0;
  do {
    ASSERT_TRUE(come_to_rest(mark_));
    position = input_position(job.process());
  } while (position == 0);
  EXPECT_LE(position, kUnderWayBytesMax);
  std::ofstream(files.path() + "/go").close();
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, std::to_string(kFileBytes)), 1) << outcome.out;
}

TEST_F(Ssh, StandardInputThatRank0ClosesIsReadNoFurther) {
  Folder files;
  const std::string closes = "exec < /dev/null; echo up; exec sleep 1000";
  Running job(with_large_input(files, command(1, {"sh", "-c", closes}, {"--hosts", "n0"})),
              environment(with_ssh()));
  ASSERT_TRUE(job.wait_for("up", 1));
  ASSERT_TRUE(come_to_rest(mark_));
  EXPECT_LE(input_position(job.process()), kUnderWayBytesMax);
  ::kill(job.process(), SIGTERM);
  EXPECT_EQ(job.wait().code, 128 + SIGTERM);
}

TEST_F(Ssh, RanksGetSigpipeWhenNobodyReadsTheirOutput) {
  const auto outcome = run(in_shell("{ \"$@\"; echo code $? >&2; } | head -n 1",
                                    command(2, {"yes"}, {"--hosts", "n0,n1"})),
                           environment(with_ssh()));
  EXPECT_EQ(outcome.out, "y\n");
  EXPECT_EQ(outcome.err, "code " + std::to_string(128 + SIGPIPE) + "\n");
}

TEST_F(Ssh, TheUsersOwnSignalsReachAllHosts) {
  const auto words = std::vector<std::string>{
      "sh", "-c",
      "trap 'echo got USR1; exit 0' USR1; echo waiting $$; while :; do sleep 0.05; done"};
  Running job(command(2, words, {"--hosts", "n0,n1"}), environment(with_ssh({kPatience})));
  ASSERT_TRUE(job.wait_for("waiting", 2));
  ::kill(job.process(), SIGUSR1);
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.out, "got USR1"), 2);
}

TEST_F(Ssh, ItStopsAndGoesOnWithTheRanksOfAllHosts) {
  const auto words = std::vector<std::string>{
      "sh", "-c",
      "trap 'echo on' CONT; trap 'exit 0' USR1; echo waiting; while :; do sleep 0.05; done"};
  Running job(command(2, words, {"--hosts", "n0,n1"}), environment(with_ssh({kPatience})));
  ASSERT_TRUE(job.wait_for("waiting", 2));
  ::kill(job.process(), SIGTSTP);
  EXPECT_TRUE(comes_into_state(job.process(), 'T'));
  ::kill(job.process(), SIGCONT);
  EXPECT_TRUE(job.wait_for("on\n", 2));
  ::kill(job.process(), SIGUSR1);
  EXPECT_EQ(job.wait().code, 0);
}

/// It is unreachable, or its network is: ssh neither answers nor ends.
TEST_F(Ssh, AHostThatDoesNotAnswerKeepsNobodyFromEndingTheJob) {
  const struct {
    std::vector<int> signals;
    int code;
  } cases[] = {
      {{SIGINT, SIGINT}, 128 + SIGINT}, {{SIGQUIT}, 128 + SIGQUIT}, {{SIGTERM}, 128 + SIGTERM}};
  for (const auto& one : cases) {
    Running job(command(2, {"sh", "-c", "echo up; exec sleep 1000"}, {"--hosts", "n0,silent"}),
                environment(with_ssh({"GASNET_EXITTIMEOUT=0.5"})));
    ASSERT_TRUE(job.wait_for("up", 1));
    for (const int number : one.signals) {
      ::kill(job.process(), number);
      ::usleep(100'000);
    }
    const auto outcome = job.wait();
    EXPECT_EQ(outcome.code, one.code);
    EXPECT_EQ(count_of(outcome.err, "host silent does not answer"), 1) << outcome.err;
  }
}

TEST_F(Ssh, ACommandWithoutWordsGetsASentence) {
  const auto outcome = launch(1, {"true"}, {"--hosts", "n0"}, {"GASNET_SSH_CMD= \t"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("GASNET_SSH_CMD has no words"), std::string::npos) << outcome.err;
}

TEST_F(Ssh, LinesAreNeverMixed) {
  const auto outcome = ssh(4, {rank_, "lines", "2000"});
  EXPECT_EQ(outcome.code, 0);
  for (const auto* text : {&outcome.out, &outcome.err})
    EXPECT_EQ(sorted_lines(*text).size(), 4000U);
}

TEST_F(Ssh, C1_103_TheOthersGetSigquitAndAreGoneInTime) {
  const struct {
    std::vector<std::string> deed;
    int code;
  } cases[] = {{{"leave", "7"}, 7},
               {{"_exit", "3"}, 3},
               {{"kill"}, 128 + SIGKILL},
               {{"segv"}, 128 + SIGSEGV}};
  for (const auto& one : cases) {
    auto words = std::vector<std::string>{rank_, "one", "2"};
    words.insert(words.end(), one.deed.begin(), one.deed.end());
    const auto outcome = ssh(4, words);
    EXPECT_EQ(outcome.code, one.code) << outcome.err;
    EXPECT_EQ(count_of(outcome.out, "got SIGQUIT"), 3) << outcome.out;
    EXPECT_LT(outcome.seconds, kGoneSeconds);
  }
}

TEST_F(Ssh, KilledLauncherTakesAllHostsWithIt) {
  Running job(command(4, {rank_, "wait"}, {"--hosts", "n0,n1"}), environment(with_ssh()));
  ASSERT_TRUE(job.wait_for("waiting", 4));
  ::kill(job.process(), SIGKILL);
  EXPECT_TRUE(gone(mark_, kGoneSeconds));
  EXPECT_TRUE(empty_within(folder_.path(), kGoneSeconds));
}

TEST_F(Ssh, SigtermEndsAllHosts) {
  Running job(command(4, {rank_, "wait"}, {"--hosts", "n0,n1"}), environment(with_ssh()));
  ASSERT_TRUE(job.wait_for("waiting", 4));
  ::kill(job.process(), SIGTERM);
  EXPECT_EQ(job.wait().code, 128 + SIGTERM);
}

/// The parent of a rank that says "waiting PROCESS".
int agent_of(const std::string& said) {
  const int rank = std::atoi(said.c_str() + said.find("waiting ") + 8);
  std::ifstream status("/proc/" + std::to_string(rank) + "/stat");
  std::string word;
  int agent = 0;
  status >> word >> word >> word >> agent;
  return agent;
}

TEST_F(Ssh, AHostThatFailsEndsTheJob) {
  Running job(command(4, {rank_, "wait"}, {"--hosts", "n0,n1"}), environment(with_ssh()));
  ASSERT_TRUE(job.wait_for("waiting", 4));
  const int agent = agent_of(job.out());
  ASSERT_GT(agent, 1);
  ::kill(agent, SIGKILL);
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("host n"), std::string::npos) << outcome.err;
}

/// A host that shuts down signals it. The agent says so, as nobody else knows.
TEST_F(Ssh, ASignalToAnAgentEndsTheJobWithASentence) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Running job(command(4, {rank_, "wait"}, {"--hosts", "n0,n1"}), environment(with_ssh()));
    ASSERT_TRUE(job.wait_for("waiting", 4));
    const int agent = agent_of(job.out());
    ASSERT_GT(agent, 1);
    ::kill(agent, number);
    const auto outcome = job.wait();
    EXPECT_EQ(outcome.code, 1);
    const auto sentence = "its agent (process " + std::to_string(agent) + ") got signal " +
                          std::to_string(number) + " (";
    EXPECT_EQ(count_of(outcome.err, sentence), 1) << outcome.err;
  }
}

TEST_F(Ssh, ACommandThatCannotBeExecutedGetsASentence) {
  const Folder files;
  const auto ssh = files.path() + "/ssh";
  std::ofstream(ssh) << "no program\n";
  ASSERT_EQ(::chmod(ssh.c_str(), 0700), 0);
  const auto outcome = launch(1, {"true"}, {"--hosts", "n0"}, {"GASNET_SSH_CMD=" + ssh});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(count_of(outcome.err, "host n0: " + ssh + " cannot be executed: Exec format error"), 1)
      << outcome.err;
}

/// As when a cable is drawn: no connection ends. Ranks that say nothing are not silent hosts, nor
/// is a launcher that was stopped for a while deaf.
TEST_F(Ssh, AHostThatFallsSilentEndsTheJob) {
  constexpr int kLimitS = 4;
  Running job(command(2, {rank_, "wait"}, {"--hosts", "n0,n1"}),
              environment(with_ssh({"GASNET_SSH_TIMEOUT=" + std::to_string(kLimitS)})));
  ASSERT_TRUE(job.wait_for("waiting", 2));
  ::kill(job.process(), SIGSTOP);
  ::sleep(kLimitS + 1);
  ::kill(job.process(), SIGCONT);
  EXPECT_FALSE(job.wait_for_error("\n", 1, kLimitS + 2)) << job.err();
  const int agent = agent_of(job.out());
  ASSERT_GT(agent, 1);
  ::kill(agent, SIGSTOP);
  const auto outcome = job.wait();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(count_of(outcome.err, "nothing was heard of it for 4 s (GASNET_SSH_TIMEOUT)"), 1)
      << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "was killed"), 0) << "nobody knows: " << outcome.err;
}

TEST_F(Ssh, AHostThatNeverAnswersEndsTheJob) {
  const auto outcome = ssh(2, {"true"}, {"--hosts", "silent"}, {"GASNET_SSH_TIMEOUT=1"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(count_of(outcome.err, "host silent: nothing was heard of it for 1 s"), 1)
      << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "silent true` work"), 1) << outcome.err;
}

/// Writes `kParts` of `kPartBytes` and notes each, on each of its ranks.
constexpr int kParts = 250;
constexpr size_t kPartBytes = 256 << 10;
std::vector<std::string> writer(const Folder& files) {
  return {"sh", "-c",
          "i=0; while [ $i -lt " + std::to_string(kParts) + " ]; do head -c " +
              std::to_string(kPartBytes) + " /dev/zero; printf . >> " + files.path() +
              "/parts; i=$((i+1)); done"};
}

/// Jobs of two hosts with a named pipe as standard output.
class SshReader : public Ssh {
 protected:
  void SetUp() override { std::ofstream(files_.path() + "/parts").close(); }
  std::vector<std::string> job_of(const std::vector<std::string>& words) const {
    return in_shell("exec \"$@\" > " + pipe_.path(), command(2, words, {"--hosts", "n0,n1"}));
  }
  size_t bytes_written() const {
    return std::filesystem::file_size(files_.path() + "/parts") * kPartBytes;
  }
  /// Once the ranks, which have written, write no more.
  void wait_for_a_stop() const {
    do {
      ASSERT_TRUE(come_to_rest(mark_));
    } while (bytes_written() == 0);
  }
  Folder files_;
  const UnreadPipe pipe_;
};

constexpr size_t kOutputUnderWayBytesMax = 8 << 20;

/// Output waits in the ranks, not in the memory of launcher and agents.
TEST_F(SshReader, RanksWaitForAReaderThatTakesNothing) {
  Running job(job_of(writer(files_)), environment(with_ssh({kPatience})));
  wait_for_a_stop();
  EXPECT_LE(bytes_written(), kOutputUnderWayBytesMax);
  size_t bytes = 0;
  pipe_.read_rest([&](std::string_view part) {
    bytes += static_cast<size_t>(std::count(part.begin(), part.end(), '\0'));
  });
  EXPECT_EQ(bytes, 2 * kParts * kPartBytes);
  EXPECT_EQ(job.wait().code, 0);
}

/// While their output waits, and their hosts are heard of nevertheless.
TEST_F(SshReader, OneSignalEndsRanksThatWaitForTheirReader) {
  for (const int number : {SIGTERM, SIGHUP}) {
    Running job(job_of(writer(files_)), environment(with_ssh({"GASNET_SSH_TIMEOUT=5"})));
    wait_for_a_stop();
    EXPECT_FALSE(job.wait_for_error("\n", 1, 7)) << job.err();
    ::kill(job.process(), number);
    EXPECT_EQ(job.wait(kGoneSeconds).code, 128 + number) << job.err();
  }
}

/// A rank ends though its last words wait, and its code is the job's.
TEST_F(SshReader, ARankThatEndsWhileOutputWaitsIsHeardOf) {
  auto words = writer(files_);
  words[2] = "[ $GASNET_JOB_RANK = 0 ] || { while ! [ -e " + files_.path() +
             "/go ]; do sleep 0.05; done; echo last words; exit 5; }; " + words[2];
  Running job(job_of(words), environment(with_ssh({"GASNET_EXITTIMEOUT=0.5"})));
  wait_for_a_stop();
  std::ofstream(files_.path() + "/go").close();
  EXPECT_TRUE(job.wait_for_error("exited with code 5", 1)) << job.err();
  std::string all;
  pipe_.read_rest([&](std::string_view part) { all += part; });
  EXPECT_EQ(count_of(all, "last words"), 1);
  EXPECT_EQ(job.wait().code, 5) << job.err();
}

/// A host that is lost soon by its own environment is not by the launcher's.
TEST_F(Ssh, TheLimitOfSilenceIsTheLaunchers) {
  const auto outcome = ssh(1, {"sleep", "3"}, {"--hosts", "hasty"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

/// They are those of the host, which nobody here sees.
TEST_F(Ssh, SettingsOfAHostThatItsAgentRefusesGetASentence) {
  const auto elsewhere = run(command(2, {"true"}, {"--hosts", "n0,homeless"}),
                             with_ssh({"TMPDIR=" + folder_.path(), mark_}));
  EXPECT_EQ(elsewhere.code, 2) << elsewhere.err;
  EXPECT_EQ(count_of(elsewhere.err, "host homeless: "), 1) << elsewhere.err;
  EXPECT_EQ(count_of(elsewhere.err, "/nowhere/at/all"), 1) << elsewhere.err;
  const auto confused = ssh(2, {"true"}, {"--hosts", "n0,confused"});
  EXPECT_EQ(confused.code, 2) << confused.err;
  EXPECT_EQ(count_of(confused.err, "host confused: invalid GASNET_EXITTIMEOUT="), 1)
      << confused.err;
}

TEST_F(Ssh, ProblemsAtTheStartGetASentence) {
  const struct {
    std::vector<std::string> options, words;
    const char* sentence;
  } cases[] = {{{"--hosts", "n0,nowhere"}, {"true"}, "host nowhere: the connection ended"},
               {{"--hosts", "n0,n1"}, {"no-such-program"}, "no program \"no-such-program\""},
               {{"--hosts", "n0", "-N", "2"}, {"true"}, "-N asks for 2 hosts, but only 1"},
               {{"--hosts", "-oProxyCommand=evil"}, {"true"}, "cannot be the name of a host"},
               {{"--hostfile", "/nowhere/file"}, {"true"}, "cannot read the host file"},
               {{"--hosts", " ,"}, {"true"}, "invalid --hosts \" ,\": expected names of hosts"},
               {{"-spawner=ssh"}, {"true"}, "no hosts are named"}};
  for (const auto& one : cases) {
    const auto outcome = ssh(4, one.words, one.options);
    EXPECT_EQ(outcome.code, 2) << one.sentence;
    EXPECT_NE(outcome.err.find(one.sentence), std::string::npos) << outcome.err;
  }
}

/// Its launcher would take it for the agent's word, and the rank for ended.
TEST_F(Ssh, ARankThatSpeaksForItsAgentEndsTheJobWithASentence) {
  using pinwire::bootstrap::FrameKind;
  const auto sends = pinwire::test::line_that_sends(FrameKind::kEnded);
  const auto outcome = ssh(1, {"bash", "-c", sends + "; exec sleep 1000"}, {"--hosts", "n0"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(count_of(outcome.err, "sent what a rank must not send"), 1) << outcome.err;
}

}  // namespace
}  // namespace pinwire_test

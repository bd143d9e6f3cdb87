// Sentences of launcher and agent themselves, to a reader that takes nothing: a full pipe. It keeps
// none of them from hearing a signal.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/job/launch/ssh_fixture.h"
#include "tests/job/launch/unread_pipe.h"

namespace pinwire_test {
namespace {

class Words : public Ssh {
 protected:
  Words() { full_.fill(); }
  std::vector<std::string> with_full(const std::string& redirection,
                                     const std::vector<std::string>& words) const {
    return in_shell("exec \"$@\" " + redirection + full_.path(), words);
  }
  /// Once it sleeps, it is signalled: it then waits for the reader, or is on its way there.
  static Outcome signalled(Running& job, int number) {
    const double until = now_s() + kGoneSeconds;
    while (words_of(job.process(), "comm").find("gasnetrun") != 0 && now_s() < until)
      ::usleep(5000);
    EXPECT_TRUE(comes_into_state(job.process(), 'S'));
    ::usleep(200'000);
    siginfo_t ended{};
    EXPECT_EQ(
        ::waitid(P_PID, static_cast<id_t>(job.process()), &ended, WEXITED | WNOWAIT | WNOHANG), 0);
    EXPECT_EQ(ended.si_pid, 0) << "it did not wait for its reader";
    ::kill(job.process(), number);
    return job.wait(kGoneSeconds);
  }
  const UnreadPipe full_;
};

TEST_F(Words, ASignalEndsALauncherThatWarns) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    Running job(with_full("2> ", command(1, {"true"})), environment({"GASNET_NO_SUCH_NAME=1"}));
    EXPECT_EQ(signalled(job, number).code, 128 + number);
  }
}

TEST_F(Words, ASignalEndsALauncherThatRefuses) {
  Running job(with_full("2> ", {std::getenv("GASNETRUN"), "--no-such-option"}), environment());
  EXPECT_EQ(signalled(job, SIGTERM).code, 2);
}

TEST_F(Words, ASignalEndsALauncherThatShowsItsHelp) {
  Running job(with_full("> ", {std::getenv("GASNETRUN"), "--help-env"}), environment());
  EXPECT_EQ(signalled(job, SIGTERM).code, 128 + SIGTERM);
}

/// The switch reports at its end, after the job.
class Report : public Words {
 protected:
  std::vector<std::string> with_switch() const {
    return environment({"GASNET_DRIVER=dpdk", "FAKE_SWITCH_SEEN=" + files_.path() + "/seen",
                        std::string("GASNET_SWITCH=") + std::getenv("FAKE_SWITCH_PROGRAM"),
                        "GASNET_EXITTIMEOUT=0.5"});
  }
  const Folder files_;
};

TEST_F(Report, AChildOfTheSwitchDoesNotKeepIt) {
  auto variables = with_switch();
  variables.push_back("FAKE_SWITCH=parent");
  Running job(command(3, {"true"}, {"-v"}), variables);
  const auto outcome = job.wait(kGoneSeconds);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_of(outcome.err, "fake_switch: counters"), 1) << outcome.err;
}

TEST_F(Report, ASignalEndsALauncherThatPassesItOn) {
  Running job(with_full("2> ", command(3, {"sh", "-c", "echo up; exec sleep 1000"}, {"-v"})),
              with_switch());
  ASSERT_TRUE(job.wait_for("up", 3));
  EXPECT_EQ(signalled(job, SIGTERM).code, 128 + SIGTERM);
}

TEST_F(Words, AReaderThatComesLateGetsThemAll) {
  Running job(with_full("2> ", command(1, {"true"})), environment({"GASNET_NO_SUCH_NAME=1"}));
  ::usleep(200'000);
  std::string all;
  full_.read_rest([&all](std::string_view part) { all += part; });
  EXPECT_EQ(job.wait(kGoneSeconds).code, 0);
  EXPECT_EQ(count_of(all, "GASNET_NO_SUCH_NAME"), 1) << all;
}

/// The user has ended no job whose ranks took the signal for themselves and went on.
TEST_F(Words, ALateReaderGetsAllOfRanksThatTookASigint) {
  const Folder files;
  const auto took = files.path() + "/took";
  const auto rank = "trap ': > " + took + "' INT; echo waiting >&2; while ! [ -e " + took +
                    " ]; do sleep 0.05; done; echo last words";
  Running job(with_full("> ", command(1, {"sh", "-c", rank})), environment());
  ASSERT_TRUE(job.wait_for_error("waiting", 1));
  ::kill(job.process(), SIGINT);
  ::sleep(3);  // twice as long as words are kept once the user has ended the job
  std::string all;
  full_.read_rest([&all](std::string_view part) { all += part; });
  EXPECT_EQ(job.wait(kGoneSeconds).code, 0);
  EXPECT_EQ(count_of(all, "last words"), 1);
}

/// Its agent has something to say, which nobody takes, and hears of its ranks nevertheless.
TEST_F(Words, AnAgentThatWarnsHearsOfItsRanks) {
  const Folder files;
  const auto waits =
      "echo waiting $$; while ! [ -e " + files.path() + "/go ]; do sleep 0.05; done; exit 5";
  Running job(with_full("2> ", command(1, {"sh", "-c", waits}, {"--hosts", "n0"})),
              environment(with_ssh()));
  ASSERT_TRUE(job.wait_for("waiting ", 1));
  ASSERT_TRUE(job.wait_for("\n", 1));
  const int rank = std::atoi(job.out().c_str() + job.out().find("waiting ") + 8);
  std::ifstream facts("/proc/" + std::to_string(rank) + "/stat");
  std::string word;
  int agent = 0;
  facts >> word >> word >> word >> agent;
  const int janitor = janitor_of(agent);
  ASSERT_GT(janitor, 1);
  ::kill(janitor, SIGKILL);
  for (const double until = now_s() + kGoneSeconds; ::kill(janitor, 0) == 0 && now_s() < until;)
    ::usleep(5000);  // the agent reaps it, and says so
  std::ofstream(files.path() + "/go").close();
  const double until = now_s() + kGoneSeconds;
  while (::kill(agent, 0) == 0 && now_s() < until) ::usleep(5000);
  EXPECT_NE(::kill(agent, 0), 0) << "it waits for its reader";
  std::string all;
  full_.read_rest([&all](std::string_view part) { all += part; });
  EXPECT_EQ(job.wait(kGoneSeconds).code, 5);
  EXPECT_EQ(count_of(all, "exited with code 5"), 1) << all;
}

}  // namespace
}  // namespace pinwire_test

// An agent whose launcher is this test: what it is told comes before its first turn.
#include "core/launch/agent/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/launch/loop/signals.h"
#include "core/launch/loop/silence.h"
#include "core/launch/process/process_facts.h"
#include "core/launch/remote/frame_stream.h"
#include "core/launch/remote/parcel.h"
#include "tests/job/launch/rank_frame.h"
#include "tests/unit/core/launch/traced_child.h"

namespace pinwire::launch {
namespace {

constexpr int64_t kAgentLimitMs = 60'000;
/// This process gets a SIGTERM when it calls chdir(2).
bool chdir_gets_signal = false;

class AgentTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_), nullptr);
    auto to = make_pipe(), from = make_pipe();
    ASSERT_TRUE(to.ok() && from.ok());
    agent_in_ = std::move(to->read);
    agent_out_ = std::move(from->write);
    stream_.emplace(loop_, std::move(from->read), std::move(to->write), kAgentGreeting,
                    FrameStream::Events{.frame = [this](const FrameHeader& header,
                                                        Bytes chunk) { on_frame(header, chunk); },
                                        .heard = [] {},
                                        .ended = [this](const std::string&) { is_over_ = true; }});
  }
  void TearDown() override {
    stream_.reset();
    EXPECT_EQ(::waitpid(agent_, nullptr, 0), agent_);
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "it leaves files";
    std::filesystem::remove_all(folder_);
  }
  void give_plan(std::vector<std::string> command, const std::string& tmp_dir) {
    stream_->put(bootstrap::frame_header(FrameKind::kStart, kEveryRank),
                 pack_plan({.count = 1,
                            .rank_count = 1,
                            .silence_limit_ms = silence_limit_ms_,
                            .host_name = "n0",
                            .folder = "/",
                            .command = std::move(command),
                            .environment = {"GASNET_TMPDIR=" + tmp_dir}}));
  }
  void give_order(FrameKind kind, int code) {
    stream_->put(bootstrap::frame_header(kind, 0, 0, code), {});
  }
  void start() {
    agent_ = ::fork();
    if (agent_ == 0) {
      stream_.reset();
      ::dup2(agent_in_.get(), 0);
      ::dup2(agent_out_.get(), 1);
      agent_in_.reset();
      agent_out_.reset();
      block_signals();
      ::_exit(run_agent());
    }
    agent_in_.reset();
    agent_out_.reset();
    const int64_t until_ms = now_ms() + kAgentLimitMs;
    while (!is_over_ && now_ms() < until_ms) {
      loop_.run_once(says_it_is_there_ ? now_ms() + silence_period_ms(silence_limit_ms_)
                                       : until_ms);
      if (says_it_is_there_) give_order(FrameKind::kAlive, 0);
    }
  }
  bool came(FrameKind kind) const {
    return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
  }

  char folder_[32] = "/tmp/agent-test-XXXXXX";
  std::string refusal_;
  std::optional<int> wait_status_;  // of its rank
  std::vector<FrameKind> kinds_;    // of all frames
  int64_t silence_limit_ms_ = 0;
  bool says_it_is_there_ = false;
  /// The test looks at each frame here.
  std::function<void(const FrameHeader& header, std::string_view text)> heed_;

 private:
  void on_frame(const FrameHeader& header, Bytes chunk) {
    const std::string_view text(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    kinds_.push_back(header.kind);
    if (header.kind == FrameKind::kFailed) refusal_ = text;
    if (header.kind == FrameKind::kEnded) wait_status_ = header.code;
    is_over_ = is_over_ || header.kind == FrameKind::kFailed || header.kind == FrameKind::kBroken ||
               wait_status_;
    if (heed_) heed_(header, text);
  }
  Loop loop_;
  Fd agent_in_, agent_out_;
  std::optional<FrameStream> stream_;
  pid_t agent_ = 0;
  bool is_over_ = false;
};

/// They come while the janitor makes the directory.
TEST_F(AgentTest, ASignalThatComesBeforeThereAreRanksReachesThem) {
  give_plan({"sleep", "1000"}, folder_);
  give_order(FrameKind::kSignal, SIGUSR1);
  start();
  ASSERT_TRUE(wait_status_.has_value()) << refusal_;
  EXPECT_TRUE(WIFSIGNALED(*wait_status_) && WTERMSIG(*wait_status_) == SIGUSR1) << *wait_status_;
}

/// The folder's file system may not answer.
TEST_F(AgentTest, ASignalEndsAnAgentThatEntersItsFolder) {
  give_plan({"true"}, folder_);
  chdir_gets_signal = true;
  start();
  chdir_gets_signal = false;
  EXPECT_EQ(refusal_, "") << "it would have to wait for the folder first";
  EXPECT_FALSE(wait_status_.has_value());
}

/// It writes until it may not. (SIGPIPE may be ignored here by what ran before.)
TEST_F(AgentTest, RanksOfAReaderThatIsGoneBeforeThemCannotWrite) {
  give_plan({"yes"}, folder_);
  give_order(FrameKind::kOutput, 1);
  start();
  ASSERT_TRUE(wait_status_.has_value()) << refusal_;
  EXPECT_NE(*wait_status_, 0);
}

/// The launcher would take it for the agent's word, and the job for ended.
TEST_F(AgentTest, AFrameThatARankMustNotSendIsNotRelayed) {
  const auto sends = test::line_that_sends(FrameKind::kEnded);
  give_plan({"bash", "-c", sends + "; exec sleep 1000"}, folder_);
  start();
  EXPECT_TRUE(came(FrameKind::kBroken));
  EXPECT_FALSE(came(FrameKind::kEnded));
  EXPECT_FALSE(wait_status_.has_value());
}

/// Its launcher waits for the end, and would take an agent that says nothing for lost.
TEST_F(AgentTest, ARankThatIsKilledIsSaidToLiveUntilItHasEnded) {
  give_plan({"sleep", "1000"}, folder_);
  give_order(FrameKind::kSignal, SIGKILL);
  start();
  EXPECT_EQ(wait_status_, SIGKILL) << refusal_;
  EXPECT_TRUE(came(FrameKind::kLives));
}

TEST_F(AgentTest, NothingIsSaidAfterAnotherSignalThanSigkill) {
  give_plan({"sleep", "1000"}, folder_);
  give_order(FrameKind::kSignal, SIGUSR1);
  start();
  EXPECT_EQ(wait_status_, SIGUSR1) << refusal_;
  EXPECT_FALSE(came(FrameKind::kLives));
}

TEST_F(AgentTest, WhyARankDoesNotDieIsSaid) {
  const auto gate = std::string(folder_) + "/gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  give_plan({"bash", "-c", "read line < " + gate}, folder_);
  std::optional<StoppedDebugger> debugger;
  bool is_traced = true;
  bool was_held = false;  // before the agent was asked
  pid_t rank = 0;
  std::string why;
  heed_ = [&](const FrameHeader& header, std::string_view text) {
    if (header.kind == FrameKind::kStarted) {
      rank = header.code;
      is_traced = debugger.emplace(rank).traces();
      give_order(FrameKind::kSignal, SIGKILL);
    }
    if (header.kind != FrameKind::kLives || wait_status_ || !why.empty()) return;
    why = text;
    if (!why.empty()) return;
    EXPECT_FALSE(was_held) << "the agent knows no reason";
    was_held = held_end_of(rank).has_value();
    give_order(FrameKind::kSignal, SIGKILL);
  };
  start();
  std::filesystem::remove(gate);
  if (!is_traced) GTEST_SKIP() << "no process may be traced here";
  if (why.empty()) GTEST_SKIP() << "the rank counted as ended before the agent was asked again";
  EXPECT_EQ(why, "it has ended, but a debugger (process " + std::to_string(debugger->number()) +
                     ") traces it, and has not let it go");
  EXPECT_EQ(wait_status_, SIGKILL) << "the agent does not wait for the debugger";
}

TEST_F(AgentTest, ALauncherThatSaysNothingIsLost) {
  silence_limit_ms_ = 2000;
  give_plan({"sleep", "1000"}, folder_);
  start();
  EXPECT_EQ(refusal_, "nothing was heard of the launcher for 2 s (GASNET_SSH_TIMEOUT)");
  EXPECT_TRUE(came(FrameKind::kAlive)) << "the agent itself says that it is there";
}

TEST_F(AgentTest, ALauncherThatIsHeardIsNotLost) {
  silence_limit_ms_ = 2000;
  says_it_is_there_ = true;
  give_plan({"sleep", "3"}, folder_);
  start();
  EXPECT_EQ(refusal_, "");
  EXPECT_EQ(wait_status_, 0);
}

TEST_F(AgentTest, ADirectoryThatIsNotThereGetsASentence) {
  give_plan({"true"}, std::string(folder_) + "/nowhere");
  start();
  EXPECT_NE(refusal_.find("/nowhere"), std::string::npos) << refusal_;
  EXPECT_FALSE(wait_status_.has_value());
}

TEST_F(AgentTest, ADirectoryThatOthersMayChangeGetsASentence) {
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  give_plan({"true"}, folder_);
  start();
  EXPECT_NE(refusal_.find(folder_), std::string::npos) << refusal_;
  EXPECT_FALSE(wait_status_.has_value());
}

}  // namespace
}  // namespace pinwire::launch

/// Instead of the C library's, for this program.
int chdir(const char* path) noexcept {
  if (pinwire::launch::chdir_gets_signal) ::raise(SIGTERM);
  const auto real = reinterpret_cast<int (*)(const char*)>(::dlsym(RTLD_NEXT, "chdir"));
  return real(path);
}

// An agent whose launcher is this test: what it is told comes before its first turn.
#include "core/launch/agent.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "core/launch/frame_stream.h"
#include "core/launch/parcel.h"
#include "core/launch/signals.h"

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
    while (!is_over_ && now_ms() < until_ms) loop_.run_once(until_ms);
  }

  char folder_[32] = "/tmp/agent-test-XXXXXX";
  std::string refusal_;
  std::optional<int> wait_status_;  // of its rank

 private:
  void on_frame(const FrameHeader& header, Bytes chunk) {
    if (header.kind == FrameKind::kFailed)
      refusal_.assign(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    if (header.kind == FrameKind::kEnded) wait_status_ = header.code;
    is_over_ = is_over_ || header.kind == FrameKind::kFailed || wait_status_;
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

// One host, with a script in place of ssh and agent.
#include "core/launch/remote/remote_host.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pinwire::launch {
namespace {

struct Heard final : public HostEvents {
  void on_started(Rank, int) override { ++started; }
  void on_frame(Rank, const FrameHeader&, Bytes) override {}
  void on_input_lost(int os_error) override { input_error = os_error; }
  void on_output(Rank, int, std::string_view text) override { output_bytes += text.size(); }
  void on_ended(Rank, int) override {}
  void on_not_started(Rank, const std::string&) override {}
  void on_host_failed(Rank, const std::string& sentence) override { failed = sentence; }
  int started = 0, input_error = 0;
  size_t output_bytes = 0;
  std::string failed;
};

std::string frame(FrameKind kind, const std::string& text, int code) {
  const auto header =
      bootstrap::chunk_header(bootstrap::frame_header(kind, 0, 0, code), 0, text.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + text;
}

class RemoteHostTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    char path[] = "/tmp/remote-host-XXXXXX";
    ASSERT_NE(::mkdtemp(path), nullptr);
    folder_ = path;
  }
  void TearDown() override {
    host_.reset();
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    std::filesystem::remove_all(folder_);
  }
  /// `script` runs in the test's folder, and gets what an agent gets.
  void start(const std::string& script, int64_t silence_limit_ms = 0, bool has_input = false) {
    host_ = std::make_unique<RemoteHost>(
        loop_, heard_,
        std::vector<std::string>{"/bin/sh", "-c", "cd " + folder_ + " && " + script, "sh"},
        RemotePlan{.count = 1,
                   .rank_count = 1,
                   .has_input = has_input,
                   .silence_limit_ms = silence_limit_ms,
                   .host_name = "n0",
                   .folder = "/",
                   .command = {"true"},
                   .environment = {}});
    ASSERT_TRUE(host_->start());
  }
  void write_file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  /// Until `done`; a busy machine takes its time.
  template <class Done>
  bool turn_until(Done done) {
    for (const int64_t until_ms = now_ms() + 60'000; now_ms() < until_ms && !done();)
      loop_.run_once(now_ms() + 10);
    return done();
  }
  Loop loop_;
  Heard heard_;
  std::string folder_;
  std::unique_ptr<RemoteHost> host_;
};

/// The sum of what the launcher told the agent that it took of its output.
size_t told_in(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  size_t told = 0;
  FrameHeader header{};
  while (stream.read(reinterpret_cast<char*>(&header), sizeof header)) {
    if (header.kind == FrameKind::kTaken) told += static_cast<size_t>(header.code);
    stream.seekg(header.bytes, std::ios::cur);
  }
  return told;
}

TEST_F(RemoteHostTest, OutputIsToldToBeTakenWhenItIsNotPaused) {
  constexpr size_t kChunks = 8;
  std::string said(kAgentGreeting);
  for (size_t i = 0; i < kChunks; ++i)
    said += frame(FrameKind::kOutput, std::string(kChunkBytesMax, 'x'), 1);
  static_assert(kChunks * kChunkBytesMax == kOutputWindowBytes);
  write_file("said", said);
  start("cat said; cat >heard; true");  // the shell keeps its output open
  ASSERT_TRUE(turn_until([this] {
    host_->pause_output(true);
    return heard_.output_bytes == kOutputWindowBytes;
  }));
  const auto told = [this] { return told_in(folder_ + "/heard"); };
  for (int i = 0; i < 20; ++i) loop_.run_once(now_ms() + 1);
  EXPECT_EQ(told(), 0U);
  host_->pause_output(false);
  EXPECT_TRUE(turn_until([&] { return told() == kOutputWindowBytes; })) << told();
}

/// One frame may be under way for longer than a silence may last.
TEST_F(RemoteHostTest, AHostOfWhichAByteComesIsNotSilent) {
  constexpr int64_t kLimitMs = 4'000'000, kPeriodMs = kLimitMs / 4;
  const auto said = std::string(kAgentGreeting) + frame(FrameKind::kStarted, "", 7);
  write_file("first", said + "P");
  write_file("second", "W");
  start("cat first; while ! [ -e go ]; do sleep 0.01; done; cat second; : > done; exec sleep 600",
        kLimitMs);
  ASSERT_TRUE(turn_until([this] { return heard_.started == 1; }));
  int64_t now = now_ms();
  for (int i = 0; i < 3; ++i) host_->due(now += kPeriodMs);
  EXPECT_EQ(heard_.failed, "");
  write_file("go", "");
  ASSERT_TRUE(turn_until([this] { return std::filesystem::exists(folder_ + "/done"); }));
  for (int i = 0; i < 3; ++i) loop_.run_once(now_ms() + 1);
  EXPECT_LE(host_->deadline_ms(), now_ms() + kPeriodMs) << "it was heard just now";
  host_->due(now += kPeriodMs);
  EXPECT_EQ(heard_.failed, "");
  for (int i = 0; i < 3; ++i) host_->due(now += kPeriodMs);
  EXPECT_NE(heard_.failed.find("nothing was heard of it for 4000 s"), std::string::npos);
}

TEST_F(RemoteHostTest, AnErrorOfStandardInputIsNotItsEnd) {
  const int before = ::dup(0), folder = ::open("/", O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::dup2(folder, 0), 0);
  ::close(folder);
  start("exec sleep 600", 0, true);
  EXPECT_TRUE(turn_until([this] { return heard_.input_error == EISDIR; })) << heard_.input_error;
  host_.reset();
  ::dup2(before, 0);
  ::close(before);
}

/// A rank that cannot be killed is not a host that does not answer.
TEST_F(RemoteHostTest, WhatTheAgentTellsOfARankThatWasKilledIsItsAnswer) {
  const auto kill = [this] {
    ::usleep((kKillGraceMs + 1) * 1000);
    host_->signal_rank(0, SIGKILL);
  };
  write_file("said", std::string(kAgentGreeting) + frame(FrameKind::kStarted, "", 7));
  write_file("answer", frame(FrameKind::kLives, "it is stuck", 0));
  start("cat said; while ! [ -e go ]; do sleep 0.01; done; cat answer; exec sleep 600");
  ASSERT_TRUE(turn_until([this] { return heard_.started == 1; }));
  kill();
  EXPECT_EQ(host_->why_not_killed(0), "");
  write_file("go", "");
  EXPECT_TRUE(turn_until([this] { return host_->why_not_killed(0) == "it is stuck"; }));
  kill();
  EXPECT_EQ(heard_.failed, "");
  EXPECT_EQ(host_->why_not_killed(0), "") << "that was of the one before";
  kill();
  EXPECT_EQ(heard_.failed, "host n0: it does not answer");
}

/// The report of a start is one descriptor of each host.
TEST_F(RemoteHostTest, AHostThatSpeaksTakesNoDescriptorForItsStart) {
  const auto open_pipes = [] {
    int count = 0;
    std::error_code closed_meanwhile;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
      count += read_symlink(one, closed_meanwhile).string().starts_with("pipe:") ? 1 : 0;
    return count;
  };
  const int before = open_pipes();
  write_file("said", std::string(kAgentGreeting) + frame(FrameKind::kStarted, "", 7));
  start("cat said; exec sleep 600");
  ASSERT_TRUE(turn_until([this] { return heard_.started == 1; }));
  EXPECT_EQ(open_pipes(), before + 2) << "its input and its output";
}

}  // namespace
}  // namespace pinwire::launch

#include "core/launch/hosts/local_host.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/base/log.h"
#include "core/launch/process/process_facts.h"
#include "tests/job/launch/rank_frame.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/core/launch/traced_child.h"

namespace pinwire::launch {
namespace {

/// Writes more to the pipe with each part of it that it hears of, as a process does that is faster
/// than the launcher.
struct Writer final : public HostEvents {
  void on_started(Rank, int) override {}
  void on_frame(Rank, const FrameHeader& header, Bytes) override { kinds.push_back(header.kind); }
  void on_output(Rank, int, std::string_view text) override {
    heard_bytes += text.size();
    if (paused != nullptr) paused->pause_output(true);
    if (other_end < 0) return;
    if (++parts > kPartsMax) return;
    [[maybe_unused]] const auto wrote = ::write(other_end, text.data(), text.size());
  }
  void on_ended(Rank, int status) override { wait_status = status; }
  void on_not_started(Rank, const std::string&) override {}
  void on_host_failed(Rank, const std::string&) override {}
  static constexpr int kPartsMax = 1000;
  LocalHost* paused = nullptr;  // with the first word
  int other_end = -1, parts = 0;
  size_t heard_bytes = 0;
  std::vector<FrameKind> kinds;    // of frames
  std::optional<int> wait_status;  // of the rank that ended last
};

class LocalHostTest : public testing::Test {
 protected:
  void start(Rank count, const std::string& line) {
    host_ = std::make_unique<LocalHost>(loop_, writer_,
                                        LocalPlan{.host_name = "here",
                                                  .count = count,
                                                  .rank_count = count,
                                                  .path = "/bin/bash",
                                                  .arguments = {"sh", "-c", line},
                                                  .environment = {"PATH=/usr/bin:/bin"},
                                                  .own = std::vector<LocalPlan::Own>(count)});
    ASSERT_TRUE(host_->start());
  }
  static void wait_for(const std::string& file) {
    for (const int64_t until_ms = now_ms() + 60'000; ::access(file.c_str(), F_OK) != 0;) {
      ASSERT_LT(now_ms(), until_ms);
      ::usleep(1000);
    }
  }
  void TearDown() override {
    for (Rank rank = 0; host_ && rank < host_->count(); ++rank) host_->signal_rank(rank, SIGKILL);
    host_.reset();
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }
  /// False: it is not done for long.
  template <typename Done>
  bool turn_until(Done done) {
    for (const int64_t until_ms = now_ms() + 60'000; !done();) {
      if (now_ms() > until_ms) return false;
      loop_.run_once(std::min(now_ms() + 10, host_->deadline_ms()));
      host_->due(now_ms());
    }
    return true;
  }
  pid_t only_child() const {
    const auto children = children_now();
    EXPECT_EQ(children.size(), 1U);
    return children.at(0);
  }
  Loop loop_;
  Writer writer_;
  std::unique_ptr<LocalHost> host_;
};

TEST_F(LocalHostTest, DrainingEndsThoughSomebodyWritesOn) {
  char path[] = "/tmp/local-host-XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  const std::string folder = path, done = folder + "/done", number = folder + "/number";
  start(1, "echo twelve bytes; echo $$ > " + number + "; : > " + done + "; exec sleep 600");
  wait_for(done);
  FILE* file = ::fopen(number.c_str(), "r");
  int process = 0;
  ASSERT_EQ(std::fscanf(file, "%d", &process), 1);
  ::fclose(file);
  const auto end = "/proc/" + std::to_string(process) + "/fd/1";
  writer_.other_end = ::open(end.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  ASSERT_GE(writer_.other_end, 0);
  host_->drain_output();
  EXPECT_EQ(writer_.heard_bytes, 13U);
  ::close(writer_.other_end);
  for (const auto& one : {done, number, folder}) ::remove(one.c_str());
}

/// An agent's launcher would take them for the agent's own words.
TEST_F(LocalHostTest, FramesThatARankMustNotSendBreakItOnce) {
  const std::set<FrameKind> allowed{FrameKind::kHello, FrameKind::kGather, FrameKind::kLeaving};
  const int last = static_cast<int>(FrameKind::kBroken);
  for (int number = 0; number <= last + 1; ++number) {
    const auto kind = static_cast<FrameKind>(number);
    writer_.kinds.clear();
    start(1, test::line_that_sends(kind) + "; " + test::line_that_sends(kind));
    const pid_t rank = only_child();
    ASSERT_TRUE(turn_until([&] { return host_->reap(rank); }));
    if (allowed.contains(kind)) {
      EXPECT_EQ(writer_.kinds, (std::vector{kind, kind, FrameKind::kHungUp})) << number;
    } else {
      EXPECT_EQ(writer_.kinds, std::vector{FrameKind::kBroken}) << number;
    }
    host_.reset();
  }
}

/// Each would be answered, and the answers kept until the rank reads them.
TEST_F(LocalHostTest, ARankThatJoinsWithoutEndIsBroken) {
  start(1, "for ((i = 0; i < 20; i++)); do " + test::line_that_sends(FrameKind::kHello) + "; done");
  const pid_t rank = only_child();
  ASSERT_TRUE(turn_until([&] { return host_->reap(rank); }));
  ASSERT_EQ(writer_.kinds.size(), 17U);
  EXPECT_EQ(writer_.kinds.front(), FrameKind::kHello);
  EXPECT_EQ(writer_.kinds.back(), FrameKind::kBroken);
}

/// A debugger that is stopped would hold the job for ever.
TEST_F(LocalHostTest, ARankThatADebuggerHoldsHasEnded) {
  const test::ScratchDir folder;
  const auto go = folder.path() + "/go";
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  // Without a child: the signal that tells of its end would stop a process that is traced.
  start(1, "read line < " + go + "; exit 3");
  const StoppedDebugger debugger(only_child());
  if (!debugger.traces()) GTEST_SKIP() << "no process may be traced here";
  static std::string words;
  words.clear();
  log_through([](std::string_view line) { words += line; });
  std::ofstream(go).close();
  EXPECT_TRUE(turn_until([&] { return writer_.wait_status.has_value(); }));
  log_through(nullptr);
  EXPECT_EQ(writer_.wait_status, 3 << 8);
  EXPECT_FALSE(host_->lives(0));
  EXPECT_NE(words.find("rank 0 on here: it has ended, but a debugger (process " +
                       std::to_string(debugger.number()) + ") traces it"),
            std::string::npos)
      << words;
  EXPECT_EQ(host_->deadline_ms(), kNever);
}

/// One turn of the loop may find more readable than there is room for.
TEST_F(LocalHostTest, PausedOutputIsReadNoFurtherInTheSameTurn) {
  const test::ScratchDir folder;
  const auto said = folder.path() + "/said";
  start(1, "echo some; echo words >&2; : > " + said + "; exec sleep 600");
  wait_for(said);
  writer_.paused = host_.get();
  for (const int64_t until_ms = now_ms() + 60'000; writer_.heard_bytes == 0;) {
    ASSERT_LT(now_ms(), until_ms);
    loop_.run_once(now_ms() + 10);
  }
  EXPECT_TRUE(writer_.heard_bytes == 5 || writer_.heard_bytes == 6) << writer_.heard_bytes;
  host_->pause_output(false);
  for (const int64_t until_ms = now_ms() + 60'000; writer_.heard_bytes < 11;) {
    ASSERT_LT(now_ms(), until_ms);
    loop_.run_once(now_ms() + 10);
    host_->pause_output(false);
  }
}

}  // namespace
}  // namespace pinwire::launch

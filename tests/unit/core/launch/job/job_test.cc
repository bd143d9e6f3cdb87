// The end of a job whose hosts do not let go.
#include "core/launch/job/job.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <string>

#include "core/base/log.h"
#include "core/launch/loop/signals.h"
#include "core/launch/process/process.h"

namespace pinwire::launch {
namespace {

/// Runs one rank, and never sweeps up.
class StuckHost final : public Host {
 public:
  const std::string& name() const noexcept override { return name_; }
  Rank first() const noexcept override { return 0; }
  Rank count() const noexcept override { return 1; }
  bool shares_terminal() const noexcept override { return true; }
  Status start() override { return success(); }
  void send(Rank, FrameKind, uint32_t, const SharedBytes&) override {}
  void signal_rank(Rank, int) override {}
  std::string why_not_killed(Rank) override { return ""; }
  void pause_output(bool) override {}
  void drain_output() override {}
  void stop_output(int) override {}
  bool reap(pid_t) override { return false; }
  bool close() override { return false; }

 private:
  const std::string name_ = "n0";
};

TEST(Job, AHostThatDoesNotCloseKeepsNobodyFromEndingTheLauncher) {
  Loop loop;
  Job job(loop, {.rank_count = 1, .exit_timeout_ms = 1, .close_ms = kNever / 2, .environment = {}});
  job.add_host(std::make_unique<StuckHost>());
  ASSERT_TRUE(job.start());
  job.on_ended(0, 3 << 8);
  ASSERT_TRUE(job.over());
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  pipe->write.reset();  // readable, as a signal's descriptor is
  const auto watch =
      loop.watch(pipe->read.get(), POLLIN, [&](short) { job.interrupted(SIGTERM, false); });
  EXPECT_EQ(job.finish(), 3);
}

/// Words of this process that wait for a reader end soon after the user has ended the job.
TEST(Job, AnEndByTheUserIsKnownToTheWholeProcess) {
  forget_end();
  Loop loop;
  Job job(loop, {.rank_count = 1, .exit_timeout_ms = 1, .close_ms = 1, .environment = {}});
  job.add_host(std::make_unique<StuckHost>());
  ASSERT_TRUE(job.start());
  EXPECT_EQ(end_was_asked(), 0) << "nobody has ended it";
  job.interrupted(SIGTERM, false);
  job.turn();
  EXPECT_EQ(end_was_asked(), SIGTERM);
  forget_end();
}

/// The loop writes them with the ranks' lines, so that a full pipe holds up no signal.
TEST(Job, WordsOfTheLauncherGoTheWayOfTheRanksWords) {
  constexpr int64_t kPromptIsOutMs = 200;
  testing::internal::CaptureStderr();
  {
    Loop loop;
    Job job(loop, {.rank_count = 1, .exit_timeout_ms = 1, .close_ms = 1, .environment = {}});
    job.add_host(std::make_unique<StuckHost>());
    EXPECT_TRUE(job.start());
    auto pipe = make_pipe();
    EXPECT_TRUE(pipe.ok());
    pipe->write.reset();  // readable: no turn waits
    const auto watch = loop.watch(pipe->read.get(), POLLIN, [](short) {});
    job.on_output(0, 2, "ready? ");
    for (const int64_t began_ms = now_ms(); now_ms() - began_ms < kPromptIsOutMs;) job.turn();
    job.turn();  // its clock shows that the prompt has waited long enough, however late it runs
    log_note("a sentence");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ready? \npinwire: a sentence\n");
}

}  // namespace
}  // namespace pinwire::launch

// The end of a job whose hosts do not let go.
#include "core/launch/job/job.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

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

}  // namespace
}  // namespace pinwire::launch

#include "core/launch/agent/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/config/settings.h"
#include "core/launch/agent/agent_input.h"
#include "core/launch/agent/agent_plan.h"
#include "core/launch/agent/launcher_connection.h"
#include "core/launch/hosts/local_host.h"
#include "core/launch/loop/signals.h"
#include "core/launch/process/supervisor_loop.h"
#include "core/launch/remote/parcel.h"
#include "core/launch/streams/line_sink.h"
#include "core/launch/streams/log_to_sink.h"
#include "core/launch/streams/patient_write.h"
#include "core/launch/sweep/janitor.h"
#include "core/launch/sweep/sweep.h"

namespace pinwire::launch {
namespace {

/// A launcher sends its plan, which has the limit of its user, when it starts ssh. An agent that
/// waited for one for ever, as a user may ask of it, would stay on its host for nothing.
constexpr int64_t kPlanLimitMs = 60'000;

class Agent final : public HostEvents {
 public:
  Agent();
  int run();

  void on_started(Rank rank, int process_id) override {
    launcher_.tell(FrameKind::kStarted, rank, process_id, {});
  }
  void on_frame(Rank rank, const FrameHeader& header, Bytes chunk) override {
    launcher_.relay(rank, header, chunk);
  }
  void on_output(Rank rank, int stream, std::string_view text) override {
    launcher_.say_output(rank, stream, text);
    heed_window();
  }
  void on_ended(Rank rank, int wait_status) override;
  void on_not_started(Rank, const std::string& sentence) override { refuse(sentence); }
  void on_host_failed(Rank, const std::string& sentence) override { refuse(sentence); }

 private:
  void refuse(const std::string& sentence);
  void take_input(Bytes bytes);
  void on_message(const FrameHeader& header, std::vector<std::byte> message);
  void start(Bytes packed);
  Status prepare();
  void go_on(const Status& has_directory);
  Status open_input();
  Status start_ranks();
  void obey(const FrameHeader& order);
  void heed(int signal_number);
  void heed_window();
  void turn();
  void say_the_rest();

  const InheritedChildren inherited_ = InheritedChildren::now();
  SupervisorLoop events_;
  Loop& loop_ = events_.loop();
  LineSink words_{loop_, STDERR_FILENO, 0, false};
  const LogToSink own_words_{words_};
  LauncherConnection launcher_;
  std::optional<RemotePlan> plan_;    // once it came
  std::optional<Settings> settings_;  // those of the plan's environment
  std::unique_ptr<Janitor> janitor_;
  std::unique_ptr<LocalHost> host_;
  std::vector<FrameHeader> early_orders_;  // they came while the janitor made the directory
  std::unique_ptr<AgentInput> input_;
  Fd rank_input_;  // its end for rank 0, until that is started
  Rank running_ = 0;
  bool over_ = false;
};

Agent::Agent()
    : launcher_(loop_, Fd(::fcntl(0, F_DUPFD_CLOEXEC, 3)), Fd(::fcntl(1, F_DUPFD_CLOEXEC, 3)),
                {.order =
                     [this](const FrameHeader& order) {
                       return host_ ? obey(order) : early_orders_.push_back(order);
                     },
                 .input = [this](Bytes bytes) { take_input(bytes); },
                 .message =
                     [this](const FrameHeader& header, std::vector<std::byte> message) {
                       on_message(header, std::move(message));
                     },
                 .taken = [this] { heed_window(); },
                 .failed = [this](const std::string& sentence) { refuse(sentence); },
                 .ended = [this] { over_ = true; }}) {}

void Agent::refuse(const std::string& sentence) {
  launcher_.tell(FrameKind::kFailed, kEveryRank, 0,
                 std::string_view(sentence).substr(0, kChunkBytesMax));
  over_ = true;
}

void Agent::on_ended(Rank rank, int wait_status) {
  if (over_) return;                           // the refusal tells of all ranks of this host
  host_->drain_output(rank);                   // its last words come before its end
  if (--running_ == 0) host_->drain_output();  // and those of all whom ranks left behind
  launcher_.tell(FrameKind::kEnded, rank, wait_status, {});
}

void Agent::take_input(Bytes bytes) {
  if (input_ && !input_->feed(bytes))
    refuse("the launcher sent more standard input than was asked for");
}

void Agent::obey(const FrameHeader& order) {
  if (order.kind == FrameKind::kOutput) return host_->stop_output(order.code == 2 ? 2 : 1);
  if (order.rank < host_->first() || order.rank - host_->first() >= host_->count()) return;
  host_->signal_rank(order.rank, order.code);
  if (order.code == SIGKILL && host_->lives(order.rank))
    launcher_.tell(FrameKind::kLives, order.rank, 0, host_->why_not_killed(order.rank));
}

void Agent::on_message(const FrameHeader& header, std::vector<std::byte> message) {
  if (header.kind == FrameKind::kStart && !plan_) return start(message);
  const bool for_ranks = header.kind == FrameKind::kWelcome ||
                         header.kind == FrameKind::kGathered || header.kind == FrameKind::kRefused;
  const bool known_rank =
      host_ && (header.rank == kEveryRank ||
                (header.rank >= host_->first() && header.rank - host_->first() < host_->count()));
  if (!for_ranks || !known_rank)
    return refuse("the launcher sent a message that makes no sense here");
  host_->send(header.rank, header.kind, header.round,
              std::make_shared<const std::vector<std::byte>>(std::move(message)));
}

void Agent::start(Bytes packed) {
  if (over_) return;
  auto plan = unpack_plan(packed);
  if (!plan) return refuse(plan.sentence());
  plan_ = std::move(*plan);
  if (auto ready = prepare(); !ready) refuse(ready.sentence());
}

/// The janitor makes the job's directory while the loop goes on.
void Agent::go_on(const Status& has_directory) {
  if (over_) return;
  if (!has_directory) return refuse(has_directory.sentence());
  if (auto started = start_ranks(); !started) refuse(started.sentence());
}

Status Agent::prepare() {
  const RemotePlan& plan = *plan_;
  auto settings = enter_plan(plan);
  if (!settings) return settings.error();
  settings_ = std::move(*settings);
  auto janitor = Janitor::start(events_, settings_->tmp_dir, plan.keep_files,
                                [this](const Status& made) { go_on(made); });
  if (!janitor) return janitor.error();
  janitor_ = std::move(*janitor);
  launcher_.begin(plan.silence_limit_ms, now_ms());
  return plan.has_input ? open_input() : success();
}

/// Input may come before rank 0 can be started.
Status Agent::open_input() {
  auto pipe = make_pipe();
  if (!pipe) return pipe.error();
  rank_input_ = std::move(pipe->read);
  input_ = std::make_unique<AgentInput>(loop_, std::move(pipe->write), [this](int bytes) {
    launcher_.tell(FrameKind::kInput, 0, bytes, {});
  });
  return success();
}

Status Agent::start_ranks() {
  const RemotePlan& plan = *plan_;
  auto local = plan_own_ranks(plan, *settings_, janitor_->job_dir());
  if (!local) return local.error();
  if (rank_input_) local->stdin_fd = rank_input_.get();
  host_ = std::make_unique<LocalHost>(loop_, *this, std::move(*local));
  running_ = plan.count;
  auto started = host_->start();
  rank_input_.reset();
  for (const auto& order : std::exchange(early_orders_, {})) obey(order);
  return started;
}

/// Its job is the launcher's, and so are the signals to the ranks. One to the agent itself, as when
/// its host shuts down, ends the host's part of the job.
void Agent::heed(int signal_number) {
  if (asks_for_end(signal_number)) {
    note_end(signal_number);
    refuse("its agent (process " + std::to_string(::getpid()) + ") got signal " +
           std::to_string(signal_number) + " (" + ::strsignal(signal_number) + ")");
  }
}

/// Ranks that are left when the others have ended would add to it for ever.
void Agent::heed_window() {
  if (host_) host_->pause_output(over_ || running_ == 0 || !launcher_.has_room());
}

void Agent::turn() {
  int64_t until_ms = launcher_.next_ms();
  if (janitor_) until_ms = std::min(until_ms, janitor_->deadline_ms());
  if (host_) until_ms = std::min(until_ms, host_->deadline_ms());
  loop_.run_once(until_ms);
  const int64_t now = now_ms();
  launcher_.due(now);
  if (janitor_) janitor_->due(now);
  if (host_) host_->due(now);
}

/// A reader that takes nothing keeps this process no longer than its launcher waits for it.
void Agent::say_the_rest() {
  events_.turn_until([this] { return words_.idle(); }, kUnreadMs);
}

int Agent::run() {
  if (auto opened = events_.opened(); !opened) refuse(opened.sentence());
  events_.hand_signals_to([this](int number, bool) { heed(number); });
  auto children =
      events_.watch_children([this](pid_t process) { return host_ && host_->reap(process); });
  launcher_.begin(kPlanLimitMs, now_ms());  // to prepare what is asked for may take a while
  while (!over_ && !(host_ && running_ == 0)) turn();
  heed_window();
  events_.hand_signals_to({});  // from now on they end the wait
  while (!launcher_.has_lost_launcher() && !launcher_.drained() && events_.end_asked() == 0) turn();
  children.reset();
  host_.reset();
  if (janitor_)
    janitor_->stop(kill_children(events_, janitor_->number(), inherited_, janitor_->job_dir()));
  say_the_rest();
  return 0;
}

}  // namespace

int run_agent() {
  raise_descriptor_limit();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Not even a careless write to standard output may disturb the frames.
  Agent agent;
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(null.get(), 0);
  ::dup2(2, 1);
  return agent.run();
}

}  // namespace pinwire::launch

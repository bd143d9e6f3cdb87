#include "core/launch/hosts/local_host.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "core/base/log.h"
#include "core/bootstrap/launcher_client.h"
#include "core/bootstrap/outer_job.h"
#include "core/launch/process/environment.h"
#include "core/launch/process/process_facts.h"

namespace pinwire::launch {

LocalHost::LocalHost(Loop& loop, HostEvents& events, LocalPlan plan)
    : loop_(loop), events_(events), plan_(std::move(plan)), ranks_(plan_.count) {
  check(plan_.own.size() == plan_.count, "a plan for other ranks", plan_.own.size(), plan_.count);
}

LocalHost::LocalRank& LocalHost::local(Rank rank) {
  check(rank >= plan_.first && rank - plan_.first < plan_.count, "a rank of another host", rank);
  return ranks_[rank - plan_.first];
}

Status LocalHost::start() {
  for (Rank rank = plan_.first; rank < plan_.first + plan_.count; ++rank)
    if (auto begun = begin_rank(rank); !begun) return begun;
  return success();
}

void LocalHost::look_at_start(Rank rank) {
  auto& one = local(rank);
  const auto started = one.start.read();
  if (!started) return;
  one.start_watch.reset();
  if (*started) return events_.on_started(rank, one.process.number());
  events_.on_not_started(rank, "rank " + std::to_string(rank) + ": " + started->sentence());
}

Status LocalHost::begin_rank(Rank rank) {
  auto sockets = make_socket_pair("rank " + std::to_string(rank));
  if (!sockets) return sockets.error();
  const Fd rank_end = std::move(sockets->second);
  auto out = make_pipe();
  auto err = make_pipe();
  if (!out || !err) return (out ? err : out).error();

  const auto& own = plan_.own[rank - plan_.first];
  ProcessPlan process{.path = plan_.path,
                      .arguments = plan_.arguments,
                      .environment = plan_.environment,
                      .stdin_fd = rank == 0 ? plan_.stdin_fd : -1,
                      .stdout_fd = out->write.get(),
                      .stderr_fd = err->write.get(),
                      .kept_fd = rank_end.get(),
                      .net_namespace_fd = own.net_namespace_fd,
                      .cpus = own.cpus,
                      .no_aslr = plan_.no_aslr};
  auto& environment = process.environment;
  environment.insert(environment.end(), own.environment.begin(), own.environment.end());
  // A rank of another job may have started this one: the place there is none here.
  set_variable(environment, kJobFdVariable, std::to_string(rank_end.get()));
  const auto look_up = [&](const char* name) { return find_variable(environment, name); };
  set_variable(environment, kJobPmixVariable, pmix_process(look_up));
  set_variable(environment, "GASNET_JOB_RANK", std::to_string(rank));
  set_variable(environment, "GASNET_JOB_RANKS", std::to_string(plan_.rank_count));
  auto begun = begin_process(process);
  if (!begun) return error("rank %u: %s", rank, begun.sentence().c_str());
  auto& one = local(rank);
  one.socket.emplace(
      loop_, rank, std::move(sockets->first),
      [this, rank](const FrameHeader& header, Bytes chunk) { take_frame(rank, header, chunk); });
  one.output.emplace(
      loop_, std::move(out->read), std::move(err->read),
      [this, rank](int stream, std::string_view text) { take_output(rank, stream, text); });
  one.process = std::move(begun->process);
  one.start = std::move(begun->report);
  watch(rank);
  return success();
}

void LocalHost::watch(Rank rank) {
  auto& one = local(rank);
  one.start_watch =
      loop_.watch(one.start.fd(), POLLIN, [this, rank](short) { look_at_start(rank); });
  if (const int fd = one.process.end_fd(); fd >= 0)
    one.end_watch = loop_.watch(fd, POLLIN, [this, rank](short) { await_reaping(rank); });
  else  // without pidfds a clock has to do
    one.held_look_ms = now_ms() + kHeldMs;
}

/// The event of its start comes before those of its words.
void LocalHost::take_frame(Rank rank, const FrameHeader& header, Bytes chunk) {
  look_at_start(rank);
  events_.on_frame(rank, header, chunk);
}

void LocalHost::take_output(Rank rank, int stream, std::string_view text) {
  look_at_start(rank);
  events_.on_output(rank, stream, text);
}

void LocalHost::stop_output(int stream) {
  for (auto& one : ranks_)
    if (one.output) one.output->stop(stream);
}

void LocalHost::drain_output() {
  for (auto& one : ranks_)
    if (one.output) one.output->drain();
}

void LocalHost::drain_output(Rank rank) {
  if (auto& output = local(rank).output) output->drain();
}

void LocalHost::pause_output(bool pause) {
  if (pause == paused_) return;
  paused_ = pause;
  for (auto& one : ranks_)
    if (one.output) one.output->pause(pause);
}

void LocalHost::send(Rank rank, FrameKind kind, uint32_t round, const SharedBytes& message) {
  if (rank == kEveryRank) {
    for (Rank each = plan_.first; each < plan_.first + plan_.count; ++each)
      send(each, kind, round, message);
    return;
  }
  if (auto& socket = local(rank).socket)
    socket->send(bootstrap::frame_header(kind, rank, round), message);
}

void LocalHost::signal_rank(Rank rank, int signal_number) {
  auto& one = local(rank);
  one.kill_sent = one.kill_sent || signal_number == SIGKILL;
  one.process.signal(signal_number);
}

std::string LocalHost::why_not_killed(Rank rank) {
  return lives(rank) ? launch::why_not_killed(local(rank).process.number()) : "";
}

void LocalHost::explain_end(Rank rank, int wait_status) {
  if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) != SIGKILL || local(rank).kill_sent)
    return;
  if (const auto why = oom_kills_.explain(); !why.empty())
    log_note("rank %u on %s was killed: %s", rank, plan_.host_name.c_str(), why.c_str());
}

bool LocalHost::reap(pid_t process) {
  for (Rank rank = plan_.first; rank < plan_.first + plan_.count; ++rank) {
    if (local(rank).process.number() != process) continue;
    look_at_start(rank);  // while its number is known
    const auto wait_status = local(rank).process.reap();
    if (!wait_status) return false;
    local(rank).end_watch.reset();
    tell_end(rank, *wait_status);
    return true;
  }
  return false;
}

void LocalHost::tell_end(Rank rank, int wait_status) {
  local(rank).held_look_ms = kNever;
  local(rank).socket->read();  // its last words come before its end
  explain_end(rank, wait_status);
  events_.on_ended(rank, wait_status);
}

/// The kernel tells the parent of a process that is not traced at once, by SIGCHLD.
void LocalHost::await_reaping(Rank rank) {
  auto& one = local(rank);
  one.end_watch.set_events(0);
  one.held_look_ms = now_ms() + kHeldMs;
}

int64_t LocalHost::deadline_ms() const {
  int64_t first_ms = kNever;
  for (const auto& one : ranks_) first_ms = std::min(first_ms, one.held_look_ms);
  return first_ms;
}

void LocalHost::due(int64_t now_ms) {
  for (Rank rank = plan_.first; rank < plan_.first + plan_.count; ++rank)
    if (now_ms >= local(rank).held_look_ms) look_at_held(rank, now_ms);
}

void LocalHost::look_at_held(Rank rank, int64_t now_ms) {
  auto& one = local(rank);
  one.held_look_ms = now_ms + kHeldMs;
  const auto held = held_end_of(one.process.number());
  if (!held) return;
  if (!std::exchange(one.is_said_held, true)) {
    log_note("rank %u on %s: %s; %s", rank, plan_.host_name.c_str(), held->sentence().c_str(),
             held->wait_status ? "the job goes on without it"
                               : "how it ended is not known until then, and the job waits for it");
  }
  if (!held->wait_status) return;
  one.end_watch.reset();
  one.process.let_go();  // an orphan that reap_children() takes
  tell_end(rank, *held->wait_status);
}

}  // namespace pinwire::launch

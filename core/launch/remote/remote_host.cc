#include "core/launch/remote/remote_host.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/launch/remote/input_window.h"

namespace pinwire::launch {
namespace {

constexpr int kStdinFd = 0;

/// For the shell that ssh gives the command to.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text)
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

Result<std::string> own_path() {
  char path[PATH_MAX] = "";
  if (::readlink("/proc/self/exe", path, sizeof path - 1) <= 0)
    return error("cannot tell where gasnetrun_pinwire itself is: %s", std::strerror(errno));
  return std::string(path);
}

}  // namespace

RemoteHost::RemoteHost(Loop& loop, HostEvents& events, std::vector<std::string> shell,
                       RemotePlan plan)
    : loop_(loop),
      events_(events),
      shell_(std::move(shell)),
      plan_(std::move(plan)),
      ended_(plan_.count) {}

bool RemoteHost::close() {
  stop_input();     // it has nowhere to go
  stream_.reset();  // at the end of its input the agent ends all that is left there, and itself
  return process_.number() < 0;
}

void RemoteHost::stop_input() {
  input_watch_.reset();
  input_.reset();
}

Status RemoteHost::start() {
  auto path = own_path();
  if (!path) return path.error();
  auto program = find_program(shell_[0]);
  if (!program)
    return error("host %s: %s (see GASNET_SSH_CMD)", name().c_str(), program.sentence().c_str());
  auto to = make_pipe(), from = make_pipe();
  if (!to || !from) return (to ? from : to).error();
  ProcessPlan process{.path = *program,
                      .arguments = shell_,
                      .environment = {},
                      .stdin_fd = to->read.get(),
                      .stdout_fd = from->write.get(),
                      .own_session = true};
  process.arguments.push_back("exec " + quoted(*path) + " --agent");
  for (char** one = environ; *one != nullptr; ++one) process.environment.emplace_back(*one);
  auto begun = begin_process(process);
  if (!begun) return begun.error();
  process_ = std::move(begun->process);
  start_ = std::move(begun->report);
  stream_.emplace(loop_, std::move(from->read), std::move(to->write), kAgentGreeting,
                  FrameStream::Events{.frame = [this](const FrameHeader& header,
                                                      Bytes chunk) { on_frame(header, chunk); },
                                      .heard =
                                          [this] {
                                            if (silence_) silence_->heard(now_ms());
                                          },
                                      .ended = [this](const std::string& why) { lost(why); }},
                  FrameStream::Out::kShared);
  stream_->put(bootstrap::frame_header(FrameKind::kStart, kEveryRank), pack_plan(plan_));
  if (plan_.silence_limit_ms > 0) silence_.emplace(plan_.silence_limit_ms).heard(now_ms());
  if (plan_.has_input) {
    input_.emplace(kStdinFd);
    input_watch_ = loop_.watch(kStdinFd, POLLIN, [this](short) { read_input(); });
  }
  return success();
}

void RemoteHost::read_input() {
  check(stream_.has_value(), "standard input for a host that is closed");
  std::byte part[kChunkBytesMax];
  const ssize_t got = input_->read(part, sizeof part);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got < 0) events_.on_input_lost(errno);
  const auto bytes = got > 0 ? static_cast<size_t>(got) : 0;
  stream_->put(bootstrap::frame_header(FrameKind::kInput, 0), Bytes(part, bytes));
  if (bytes == 0) return stop_input();
  input_bytes_ += bytes;
  if (input_bytes_ >= kInputWindowBytes) input_watch_.set_events(0);  // until rank 0 took some
}

void RemoteHost::input_taken(int bytes) {
  if (bytes < 0) return stop_input();
  input_bytes_ -= std::min(input_bytes_, static_cast<size_t>(bytes));
  if (input_bytes_ < kInputWindowBytes) input_watch_.set_events(POLLIN);
}

void RemoteHost::send(Rank rank, FrameKind kind, uint32_t round, const SharedBytes& message) {
  if (stream_) stream_->put(bootstrap::frame_header(kind, rank, round), *message);
}

void RemoteHost::pause_output(bool pause) {
  if (pause || !stream_) return;
  if (const int bytes = output_.take(); bytes > 0)
    stream_->put(bootstrap::frame_header(FrameKind::kTaken, kEveryRank, 0, bytes), {});
}

void RemoteHost::stop_output(int stream) {
  if (stream_) stream_->put(bootstrap::frame_header(FrameKind::kOutput, kEveryRank, 0, stream), {});
}

void RemoteHost::signal_rank(Rank rank, int signal_number) {
  if (lost_ || !stream_) return;
  if (signal_number == SIGKILL) why_alive_.erase(rank);  // the answer to the kill before
  stream_->put(bootstrap::frame_header(FrameKind::kSignal, rank, 0, signal_number), {});
  if (signal_number != SIGKILL) return;
  // The job asks again and again until the rank has ended.
  if (!kill_asked_ms_) kill_asked_ms_ = now_ms();
  if (now_ms() - *kill_asked_ms_ >= kKillGraceMs) give_up("it does not answer");
}

std::string RemoteHost::why_not_killed(Rank rank) {
  const auto known = why_alive_.find(rank);
  return known == why_alive_.end() ? "" : known->second;
}

void RemoteHost::give_up(const std::string& why) {
  log_note("host %s does not answer: ending the connection", name().c_str());
  process_.signal(SIGKILL);
  lost(why);
}

bool RemoteHost::awaits_word() const {
  return silence_ && !lost_ && std::find(ended_.begin(), ended_.end(), false) != ended_.end();
}

int64_t RemoteHost::deadline_ms() const {
  return awaits_word() ? silence_->next_look_ms() : kNever;
}

void RemoteHost::due(int64_t now_ms) {
  if (!awaits_word() || !silence_->is_too_long(now_ms)) return;
  give_up(silence_sentence("it", plan_.silence_limit_ms));
}

void RemoteHost::on_frame(const FrameHeader& header, Bytes chunk) {
  start_ = {};  // its program runs, and the report of that may go
  if (header.kind == FrameKind::kAlive) return;
  if (header.kind == FrameKind::kFailed) {
    refusal_.assign(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return;
  }
  if (header.rank < plan_.first || header.rank - plan_.first >= plan_.count)
    return lost("it speaks of a rank that is not its own");
  on_rank_frame(header, chunk);
}

void RemoteHost::on_rank_frame(const FrameHeader& header, Bytes chunk) {
  switch (header.kind) {
    case FrameKind::kStarted:
      return events_.on_started(header.rank, header.code);
    case FrameKind::kInput:
      return input_taken(header.code);
    case FrameKind::kOutput: {
      const std::string_view text(reinterpret_cast<const char*>(chunk.data()), chunk.size());
      output_.came(chunk.size());
      return events_.on_output(header.rank, header.code == 2 ? 2 : 1, text);
    }
    case FrameKind::kLives:
      kill_asked_ms_.reset();
      why_alive_[header.rank].assign(reinterpret_cast<const char*>(chunk.data()), chunk.size());
      return;
    case FrameKind::kEnded: {
      kill_asked_ms_.reset();
      const auto index = header.rank - plan_.first;
      if (ended_[index]) return;
      ended_[index] = true;
      return events_.on_ended(header.rank, header.code);
    }
    default:
      return events_.on_frame(header.rank, header, chunk);
  }
}

void RemoteHost::lost(const std::string& why) {
  if (std::exchange(lost_, true)) return;
  stop_input();
  bool any_left = false;
  for (const bool ended : ended_) any_left = any_left || !ended;
  if (!any_left) return;
  // The stream of an ssh that cannot be executed has ended, too.
  const auto started = start_.read();
  const bool runs = !started || *started;
  const std::string said = !runs ? started->sentence() : refusal_.empty() ? why : refusal_;
  std::string hint;
  if (runs && !stream_->greeted()) {
    hint = " (does `" + shell_[0] + " " + name() +
           " true` work, and is gasnetrun_pinwire at the same place there?)";
  }
  // The launcher cannot learn more of its ranks; their agent kills them when it sees the end.
  ended_.assign(plan_.count, true);
  events_.on_host_failed(first(), "host " + name() + ": " + said + hint);
}

bool RemoteHost::reap(pid_t process) {
  // The end of the stream tells the rest.
  return process == process_.number() && process_.reap().has_value();
}

}  // namespace pinwire::launch

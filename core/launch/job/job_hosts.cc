#include "core/launch/job/job_hosts.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/launch/loop/silence.h"

namespace pinwire::launch {
namespace {

void signal_host(Host& host, int signal_number) {
  for (Rank i = 0; i < host.count(); ++i) host.signal_rank(host.first() + i, signal_number);
}

}  // namespace

void JobHosts::add(std::unique_ptr<Host> host) { hosts_.push_back(std::move(host)); }

Host& JobHosts::of(Rank rank) const {
  for (const auto& host : hosts_)
    if (rank >= host->first() && rank - host->first() < host->count()) return *host;
  fatal("rank %u is on no host", rank);
}

Status JobHosts::start() {
  for (auto& host : hosts_)
    if (auto started = host->start(); !started) return started;
  return start_pulse();
}

Status JobHosts::start_pulse() {
  std::vector<int> pipes;
  for (auto& host : hosts_)
    if (const int fd = host->pulse_fd(); fd >= 0) pipes.push_back(fd);
  if (pipes.empty() || silence_limit_ms_ <= 0) return success();
  auto started = Pulse::start(pipes, silence_period_ms(silence_limit_ms_));
  if (!started) return started.error();
  pulse_.emplace(std::move(*started));
  return success();
}

void JobHosts::send_all(FrameKind kind, uint32_t round, const SharedBytes& message) {
  for (auto& host : hosts_) host->send(kEveryRank, kind, round, message);
}

void JobHosts::signal_all(int signal_number) {
  for (auto& host : hosts_) signal_host(*host, signal_number);
}

void JobHosts::pass_on(int signal_number, bool ranks_got_it) {
  for (auto& host : hosts_) {
    const bool near = host->shares_terminal();
    if (near && ranks_got_it) continue;
    // An agent's group is orphaned, and the kernel stops none of those by SIGTSTP.
    signal_host(*host, signal_number == SIGTSTP && !near ? SIGSTOP : signal_number);
  }
}

void JobHosts::pause_output(bool pause) {
  for (auto& host : hosts_) host->pause_output(pause);
}

void JobHosts::drain_output() {
  for (auto& host : hosts_) host->drain_output();
}

void JobHosts::stop_output(int stream) {
  for (auto& host : hosts_) host->stop_output(stream);
}

int64_t JobHosts::deadline_ms() const {
  int64_t first_ms = kNever;
  for (const auto& host : hosts_) first_ms = std::min(first_ms, host->deadline_ms());
  return first_ms;
}

void JobHosts::due(int64_t now_ms) {
  if (pulse_) pulse_->wake_if_stopped();
  for (auto& host : hosts_) host->due(now_ms);
}

Result<bool> JobHosts::reap(pid_t process) {
  if (pulse_ && pulse_->reap(process)) {  // a stranger killed it
    if (auto again = start_pulse(); !again) return again.error();
    return true;
  }
  return std::any_of(hosts_.begin(), hosts_.end(),
                     [process](auto& host) { return host->reap(process); });
}

bool JobHosts::close() {
  pulse_.reset();  // it holds the pipes whose end lets the agents go
  bool closed = true;
  for (auto& host : hosts_) closed = host->close() && closed;
  return closed;
}

}  // namespace pinwire::launch

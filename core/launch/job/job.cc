#include "core/launch/job/job.h"

#include <errno.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "core/base/log.h"
#include "core/bootstrap/job_key.h"
#include "core/launch/loop/signals.h"
#include "core/launch/streams/patient_write.h"

namespace pinwire::launch {
namespace {

constexpr int kProtocolExitCode = 1;
constexpr int kHostLostExitCode = 1;
constexpr int kNetworkLostExitCode = 1;
constexpr int kNoStartExitCode = 2;
constexpr int kDataLostExitCode = 1;

SharedBytes shared(std::vector<std::byte> bytes) {
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

}  // namespace

Job::Job(Loop& loop, JobPlan plan)
    : loop_(loop),
      plan_(std::move(plan)),
      job_key_(make_job_key()),
      hosts_(plan_.silence_limit_ms),
      process_ids_(plan_.rank_count),
      joined_(plan_.rank_count),
      out_(loop, 1, plan_.rank_count, plan_.tag_lines),
      err_(loop, 2, plan_.rank_count, plan_.tag_lines),
      gathering_(plan_.rank_count),
      ending_(plan_.rank_count, plan_.exit_timeout_ms, *this) {}

void Job::turn() {
  const auto deadline = ending_.deadline_ms();
  int64_t until_ms = deadline ? std::min(*deadline, now_ms() + kTickMs) : kNever;
  until_ms = std::min({until_ms, out_.deadline_ms(), err_.deadline_ms(), hosts_.deadline_ms()});
  ending_.waited(loop_.run_once(until_ms), deadline);
  const int64_t now = now_ms();
  hosts_.due(now);
  ending_.due(now);
  out_.due(now);
  err_.due(now);
  heed_readers();
  heed_end();
  hosts_.pause_output(out_.full() || err_.full());
}

int Job::finish() {
  hosts_.drain_output();
  for (Rank rank = 0; rank < plan_.rank_count; ++rank) {
    out_.finish(rank);
    err_.finish(rank);
  }
  close_hosts();
  drain();
  heed_readers();
  if (!all_is_written()) return 128 + given_up_by_;
  const int code = ending_.exit_code();
  return code == 0 && data_is_lost_ ? kDataLostExitCode : code;
}

/// The loop writes what is left, so that a signal still ends a launcher whose reader takes nothing.
/// Where one has ended the job, that was it.
void Job::drain() {
  // A process that outlives its rank may write for ever.
  hosts_.pause_output(true);
  size_t unread_bytes = SIZE_MAX;
  int64_t left_ms = kNever;
  while (given_up_by_ == 0 && !all_is_written()) {
    const size_t bytes = out_.pending_bytes() + err_.pending_bytes();
    if (std::exchange(unread_bytes, bytes) != bytes && ending_.ended_by() != 0) left_ms = kUnreadMs;
    left_ms = loop_.run_counted(left_ms);
    if (left_ms <= 0) given_up_by_ = ending_.ended_by();
  }
}

/// The words of this process outlive the job, and are to know of its end by the user.
void Job::heed_end() {
  if (ending_.ended_by() != 0) note_end(ending_.ended_by());
}

void Job::heed_readers() {
  for (const int stream : {1, 2}) heed_reader(stream);
}

void Job::heed_reader(int stream) {
  const int os_error = sink(stream).write_error();
  if (os_error == 0 || std::exchange(heeded_[stream - 1], true)) return;
  // `| head -1`, or a socket's other end: the ranks shall see what they would see without us.
  if (os_error == EPIPE || os_error == ECONNRESET) {
    ending_.reader_gone();
    hosts_.stop_output(stream);
    return;
  }
  data_is_lost_ = true;
  say(std::string("cannot write standard ") + (stream == 1 ? "output" : "error") + ": " +
      std::strerror(os_error) + "; what the ranks say there is lost from now on");
}

void Job::on_input_lost(int os_error) {
  data_is_lost_ = true;
  say(std::string("cannot read standard input: ") + std::strerror(os_error) +
      "; rank 0 gets no more of it");
}

void Job::close_hosts() {
  for (int64_t left_ms = plan_.close_ms; !hosts_.close() && given_up_by_ == 0 && left_ms > 0;)
    left_ms = loop_.run_counted(left_ms);
}

bool Job::reap(pid_t process) {
  auto reaped = hosts_.reap(process);
  if (!reaped) ending_.failed(kHostLostExitCode, reaped.sentence(), now_ms());
  return !reaped || *reaped;
}

void Job::network_failed(const std::string& sentence) {
  ending_.failed(kNetworkLostExitCode, sentence, now_ms());
}

void Job::interrupted(int signal_number, bool from_terminal) {
  if (over()) {
    given_up_by_ = signal_number;
    return note_end(signal_number);
  }
  ending_.interrupted(signal_number, from_terminal, now_ms());
  if (from_terminal && signal_number == SIGINT) hosts_.pass_on(SIGINT, true);
}

void Job::on_started(Rank rank, int process_id) {
  process_ids_[rank] = process_id;
  if (plan_.verbose) say("started " + describe(rank));
}

void Job::on_frame(Rank rank, const FrameHeader& header, Bytes chunk) {
  switch (header.kind) {
    case FrameKind::kHello:
      return welcome(rank);
    case FrameKind::kGather:
      return gather(rank, header, chunk);
    case FrameKind::kLeaving:
      if (plan_.verbose) say(describe(rank) + " leaves with " + std::to_string(header.code));
      return ending_.left(rank, header.code, now_ms());
    case FrameKind::kHungUp:
      return ending_.hung_up(rank, now_ms());
    default:
      return refuse(rank,
                    describe(rank) + " sent what a rank must not send: is it of the same version?");
  }
}

void Job::welcome(Rank rank) {
  if (joined_[rank]) return refuse(rank, describe(rank) + " joined a second time");
  joined_[rank] = true;
  const bootstrap::Welcome head{job_key_, rank, plan_.rank_count};
  std::vector<std::byte> message(sizeof head);
  std::memcpy(message.data(), &head, sizeof head);
  message.insert(message.end(), plan_.environment.begin(), plan_.environment.end());
  hosts_.of(rank).send(rank, FrameKind::kWelcome, 0, shared(std::move(message)));
  ending_.joined(rank, now_ms());
}

void Job::gather(Rank rank, const FrameHeader& header, Bytes chunk) {
  auto complete = gathering_.add(rank, header, chunk);
  if (!complete) return refuse(rank, complete.sentence());
  if (!*complete) return;
  const uint32_t round = gathering_.round();
  const auto all = shared(gathering_.take());
  hosts_.send_all(FrameKind::kGathered, round, all);
}

void Job::refuse(Rank rank, const std::string& sentence) {
  const auto* text = reinterpret_cast<const std::byte*>(sentence.data());
  const size_t bytes = std::min<size_t>(sentence.size(), kChunkBytesMax);
  hosts_.of(rank).send(rank, FrameKind::kRefused, 0, shared({text, text + bytes}));
  ending_.failed(kProtocolExitCode, sentence, now_ms());
}

void Job::on_output(Rank rank, int stream, std::string_view text) {
  sink(stream).feed(rank, text, now_ms());
}

void Job::on_ended(Rank rank, int wait_status) { ending_.ended(rank, wait_status, now_ms()); }

void Job::on_not_started(Rank, const std::string& sentence) {
  ending_.not_started(kNoStartExitCode, sentence, now_ms());
}

void Job::on_host_failed(Rank first, const std::string& sentence) {
  const bool ran = process_ids_[first] != 0;
  ending_.failed(ran ? kHostLostExitCode : kNoStartExitCode, sentence, now_ms());
  const Host& host = hosts_.of(first);
  for (Rank i = 0; i < host.count(); ++i) ending_.lost(host.first() + i);
}

void Job::signal_rank(Rank rank, int signal_number) {
  if (plan_.verbose)
    say(std::string("sends ") + ::strsignal(signal_number) + " to " + describe(rank));
  hosts_.of(rank).signal_rank(rank, signal_number);
}

void Job::say(const std::string& sentence) { log_note("%s", sentence.c_str()); }

std::string Job::describe(Rank rank) const {
  return "rank " + std::to_string(rank) + " (process " + std::to_string(process_ids_[rank]) +
         " on " + hosts_.of(rank).name() + ")";
}

std::string Job::why_not_killed(Rank rank) const { return hosts_.of(rank).why_not_killed(rank); }

}  // namespace pinwire::launch

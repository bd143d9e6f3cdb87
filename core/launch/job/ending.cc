#include "core/launch/job/ending.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace pinwire::launch {

Ending::Ending(Rank rank_count, int64_t exit_timeout_ms, EndingOrders& orders)
    : ranks_(rank_count), exit_timeout_ms_(exit_timeout_ms), orders_(orders) {
  check(rank_count > 0 && exit_timeout_ms > 0, "a job without ranks or time", rank_count,
        exit_timeout_ms);
}

void Ending::set_code(int code) {
  // The first cause counts; but success is no cause if another rank tells of a failure (C1-101).
  if (!code_ || *code_ == 0) code_ = code;
}

void Ending::joined(Rank rank, int64_t now_ms) {
  ranks_[rank].joined = true;
  // Someone ended without a word, and this rank would wait for it.
  if (silent_end_ && phase_ == Phase::kRunning) begin_leaving(now_ms);
}

void Ending::left(Rank rank, int code, int64_t now_ms) {
  auto& state = ranks_[rank];
  if (state.left) return;
  state.left = true;
  // A rank's exit code after SIGQUIT is a consequence, not a cause.
  if (phase_ == Phase::kRunning || phase_ == Phase::kLeaving) set_code(code);
  // On a busy machine the ranks of a collective exit come one by one: each gives the rest more
  // time.
  if (phase_ == Phase::kRunning || phase_ == Phase::kLeaving) begin_leaving(now_ms);
  if (phase_ == Phase::kLeaving && all_left()) deadline_ms_ = now_ms + kTeardownMs;
}

void Ending::ended(Rank rank, int wait_status, int64_t now_ms) {
  if (ranks_[rank].given_up) return;
  mark_ended(rank);
  if (WIFSIGNALED(wait_status)) {
    killed(rank, WTERMSIG(wait_status), now_ms);
  } else {
    exited(rank, WEXITSTATUS(wait_status), now_ms);
  }
  if (phase_ == Phase::kLeaving && all_left()) deadline_ms_ = now_ms + kTeardownMs;
}

void Ending::mark_ended(Rank rank) {
  auto& state = ranks_[rank];
  check(!state.ended, "a rank ended twice", rank);
  state.ended = true;
  ++ended_count_;
}

void Ending::lost(Rank rank) {
  check(phase_ == Phase::kQuitting || phase_ == Phase::kKilling, "a lost rank in a job that runs",
        rank);
  if (!ranks_[rank].ended) mark_ended(rank);
}

void Ending::hung_up(Rank rank, int64_t now_ms) {
  auto& state = ranks_[rank];
  // A program that is no client may do with its descriptors as it likes. A client that has ended
  // has ended the job's running.
  if (phase_ != Phase::kRunning || !state.joined) return;
  state.hung_up = true;
  deadline_ms_ = now_ms + kHungUpMs;
}

void Ending::tell_who_hung_up() {
  for (Rank rank = 0; rank < ranks_.size(); ++rank) {
    auto& state = ranks_[rank];
    if (!std::exchange(state.hung_up, false)) continue;
    orders_.say(orders_.describe(rank) +
                " lives, but closed the descriptors of the library (closefrom, close_range) or "
                "executes another program: what waits for it may wait for ever");
  }
}

void Ending::exited(Rank rank, int code, int64_t now_ms) {
  const auto& state = ranks_[rank];
  if (phase_ == Phase::kQuitting || phase_ == Phase::kKilling) return;
  if (state.left) {
    set_code(code);
  } else if (code == 0) {
    // Its end of main, or _exit: as good as gasnet_exit(0). A program that is no GASNet client may
    // end while its brothers go on.
    silent_end_ = silent_end_ || !state.joined;
    const bool others_joined =
        std::any_of(ranks_.begin(), ranks_.end(), [](auto& r) { return r.joined; });
    if (others_joined) left(rank, 0, now_ms);
  } else {
    orders_.say(orders_.describe(rank) + " exited with code " + std::to_string(code) +
                " without gasnet_exit");
    set_code(code);
    begin_quitting(now_ms);
  }
}

void Ending::killed(Rank rank, int signal_number, int64_t now_ms) {
  // Chance decides whether a killed rank's peers or the kernel report its end first: a rank that
  // gave up because of it is no cause. The launcher sends no SIGKILL before kKilling.
  const bool from_outside = phase_ == Phase::kQuitting && signal_number == SIGKILL;
  if (phase_ == Phase::kKilling || (phase_ == Phase::kQuitting && !from_outside)) return;
  // The library turns SIGTERM and its like into SIGQUIT (C1-104).
  const bool by_user = user_signal_ != 0 && (signal_number == user_signal_ ||
                                             signal_number == SIGQUIT || signal_number == SIGTERM);
  const bool expected = by_user || (reader_is_gone_ && signal_number == SIGPIPE);
  if (!expected) {
    orders_.say(orders_.describe(rank) + " was killed by signal " + std::to_string(signal_number) +
                " (" + ::strsignal(signal_number) + ")" +
                (ranks_[rank].left ? " while it left" : ""));
  }
  if (by_user) ended_by_ = user_signal_;
  const int code = 128 + (by_user ? user_signal_ : signal_number);
  // The library aborts a rank whose peer is gone, too; here, perhaps, with one that left.
  const bool may_follow =
      signal_number == SIGABRT && phase_ == Phase::kLeaving && !ranks_[rank].left;
  if (expected || cause_is_sure_ || may_follow) {
    set_code(code);
  } else {
    code_ = code;
  }
  cause_is_sure_ = cause_is_sure_ || signal_number != SIGABRT;
  if (phase_ != Phase::kQuitting) begin_quitting(now_ms);
}

void Ending::interrupted(int signal_number, bool ranks_got_it, int64_t now_ms) {
  if (signal_number == SIGINT) {
    // The first is for the ranks: an interactive one may stop what it does, and go on.
    if (user_signal_ == SIGINT) {
      code_ = 128 + SIGINT;
      ended_by_ = SIGINT;
      begin_killing(now_ms);
      return;
    }
    user_signal_ = SIGINT;
    if (!ranks_got_it) signal_ranks(SIGINT, true);
    return;
  }
  if (user_signal_ == 0 || user_signal_ == SIGINT) set_code(128 + signal_number);
  user_signal_ = signal_number;
  ended_by_ = signal_number;
  if (phase_ == Phase::kQuitting || phase_ == Phase::kKilling) return;
  if (signal_number == SIGQUIT) {
    begin_quitting(now_ms);
  } else {
    signal_ranks(SIGTERM, true);
    begin_leaving(now_ms);
  }
}

void Ending::failed(int code, const std::string& sentence, int64_t now_ms) {
  if (phase_ == Phase::kQuitting || phase_ == Phase::kKilling) return;
  orders_.say(sentence);
  set_code(code);
  cause_is_sure_ = true;  // its ranks may be killed with a lost host
  begin_quitting(now_ms);
}

void Ending::not_started(int code, const std::string& sentence, int64_t now_ms) {
  if (phase_ == Phase::kQuitting || phase_ == Phase::kKilling) return;
  orders_.say(sentence);
  set_code(code);
  begin_killing(now_ms);
}

void Ending::due(int64_t now_ms) {
  if (over() || !deadline_ms_ || now_ms < *deadline_ms_) return;
  switch (phase_) {
    case Phase::kRunning:
      deadline_ms_.reset();
      tell_who_hung_up();
      break;
    case Phase::kLeaving:
      if (all_left()) {
        orders_.say("not every rank ended after it left: killing the rest");
        begin_killing(now_ms);
      } else {
        begin_quitting(now_ms);
      }
      break;
    case Phase::kKilling:
      give_up_unkillable();
      [[fallthrough]];
    case Phase::kQuitting:
      begin_killing(now_ms);
      break;
  }
}

/// A rank that cannot be killed would hold the launcher for ever.
void Ending::give_up_unkillable() {
  for (Rank rank = 0; rank < ranks_.size(); ++rank) {
    auto& state = ranks_[rank];
    if (state.ended) continue;
    const auto why = orders_.why_not_killed(rank);
    state.unkilled = why.empty() ? 0 : state.unkilled + 1;
    if (state.unkilled < kKillsMax) continue;
    orders_.say(orders_.describe(rank) + " cannot be killed, and is left alone: " + why);
    state.given_up = true;
    mark_ended(rank);
  }
}

void Ending::begin_leaving(int64_t now_ms) {
  phase_ = Phase::kLeaving;
  deadline_ms_ = now_ms + exit_timeout_ms_;
}

void Ending::begin_quitting(int64_t now_ms) {
  phase_ = Phase::kQuitting;
  deadline_ms_ = now_ms + kQuitGraceMs;
  signal_ranks(SIGQUIT, false);
}

void Ending::begin_killing(int64_t now_ms) {
  phase_ = Phase::kKilling;
  // Again from time to time: a rank whose host answers slowly may have started in between.
  deadline_ms_ = now_ms + kQuitGraceMs;
  signal_ranks(SIGKILL, true);
}

void Ending::signal_ranks(int signal_number, bool also_those_that_left) {
  for (Rank rank = 0; rank < ranks_.size(); ++rank) {
    const auto& state = ranks_[rank];
    if (!state.ended && (also_those_that_left || !state.left))
      orders_.signal_rank(rank, signal_number);
  }
}

bool Ending::all_left() const noexcept {
  return std::all_of(ranks_.begin(), ranks_.end(), [](auto& r) { return r.left || r.ended; });
}

}  // namespace pinwire::launch

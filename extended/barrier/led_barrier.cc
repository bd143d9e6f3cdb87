#include "extended/barrier/led_barrier.h"

#include <algorithm>
#include <bit>
#include <map>

#include "am/handlers/handlers.h"
#include "am/message/token.h"
#include "am/send/send.h"
#include "am/wake/sleepers.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "extended/barrier/value.h"

namespace pinwire {
namespace {

LedBarrier* (*find_barrier)(uint32_t index) = nullptr;

/// The value that each member passes to a phase that is no turn.
constexpr uint64_t kNoValue = BarrierValue{BarrierValue::kAnonymous, 0}.packed();

/// Where and when, and what is said.
void on_arrival(pinwire_token* token, int32_t index, int32_t where, int32_t kind, int32_t id) {
  LedBarrier* barrier = find_barrier(static_cast<uint32_t>(index));
  const BarrierValue value{static_cast<BarrierValue::Kind>(kind), id};
  const auto at = static_cast<uint32_t>(where);
  if (barrier == nullptr || value.kind > BarrierValue::kMismatch ||
      !barrier->arrive(at & 1, at >> 1, value.packed())) {
    fatal("rank %u sent a round of a barrier that makes no sense; run the same build on every rank",
          token->source);
  }
}

}  // namespace

bool may_have_lines(const std::vector<BarrierSeat>& seats) {
  std::vector<Rank> processes;
  for (const BarrierSeat& seat : seats) {
    if (seat.index >= shm::kBarrierLines) return false;
    processes.push_back(seat.jobrank);
  }
  std::sort(processes.begin(), processes.end());
  return std::adjacent_find(processes.begin(), processes.end()) == processes.end();
}

namespace {

/// For each member the first of those that share lines with it.
std::vector<Rank> leaders_of(const std::vector<BarrierSeat>& seats) {
  const bool have_lines = may_have_lines(seats);
  std::map<Rank, Rank> leader_beside;
  std::vector<Rank> leaders;
  for (Rank member = 0; member < seats.size(); ++member) {
    const Rank beside = have_lines ? first_local_rank(seats[member].jobrank) : member;
    leaders.push_back(leader_beside.try_emplace(beside, member).first->second);
  }
  return leaders;
}

}  // namespace

bool are_few_beside(const std::vector<BarrierSeat>& seats) {
  constexpr size_t kFew = 32;
  const std::vector<Rank> leaders = leaders_of(seats);
  return leaders.size() > 1 && leaders.size() <= kFew &&
         std::all_of(leaders.begin(), leaders.end(), [](Rank leader) { return leader == 0; });
}

void open_led_barriers(LedBarrier* (*find)(uint32_t index)) noexcept {
  find_barrier = find;
  register_internal(kHandlerBarrier, on_arrival);
}

void LedBarrier::open(const std::vector<BarrierSeat>& seats, Rank me, uint64_t from) {
  check(me < seats.size(), "a member outside its team", me, seats.size());
  close();
  choose_leader(seats, me);
  is_begun_ = false;
  over_.store(from, std::memory_order_relaxed);  // first: it is never behind called_ and so idle
  called_.store(from, std::memory_order_relaxed);
  turn_phase_.store(0, std::memory_order_relaxed);
  turn_.store(0, std::memory_order_relaxed);
  is_open_ = true;
}

void LedBarrier::close() noexcept {
  is_open_ = false;
  own_ = nullptr;
  leaders_ = nullptr;
  led_.clear();
  round_seats_.clear();
}

void LedBarrier::choose_leader(const std::vector<BarrierSeat>& seats, Rank me) {
  const std::vector<Rank> leaders = leaders_of(seats);
  for (Rank member = 0; member < seats.size(); ++member) {
    if (leaders[member] != leaders[me] || member == me) continue;
    own_ = barrier_lines(seats[me].jobrank, seats[me].index);
    shm::BarrierLines* theirs = barrier_lines(seats[member].jobrank, seats[member].index);
    check(own_ != nullptr && theirs != nullptr, "a member beside without lines", member);
    if (leaders[me] == me) led_.push_back(&theirs->here);
    if (leaders[me] == member) leaders_ = &theirs->over;
  }
  if (leaders[me] == me) choose_rounds(seats, leaders, me);
}

void LedBarrier::choose_rounds(const std::vector<BarrierSeat>& seats,
                               const std::vector<Rank>& leaders, Rank me) {
  std::vector<Rank> all;  // each host's, in order
  for (Rank member = 0; member < leaders.size(); ++member) {
    if (leaders[member] == member) all.push_back(member);
  }
  const auto place =
      static_cast<uint64_t>(std::lower_bound(all.begin(), all.end(), me) - all.begin());
  check(place < all.size() && all[place] == me, "a leader that leads nobody", me, all.size());
  for (uint64_t far = 1; far < all.size(); far *= 2) {
    round_seats_.push_back(seats[all[(place + far) % all.size()]]);
  }
  arrivals_ = std::make_unique<Arrival[]>(2 * round_seats_.size());
}

uint64_t LedBarrier::enter() noexcept {
  const uint64_t phase = called_.load(std::memory_order_relaxed) + 1;
  dcheck(is_open_, "a led barrier that is not open", phase);
  if (leaders_ != nullptr) notify_line(own_->here, phase);
  called_.store(phase, std::memory_order_release);  // pairs with the acquire in go_on()
  return phase;
}

uint64_t LedBarrier::enter_turn(uint64_t turn, uint64_t value) noexcept {
  if constexpr (kChecks) {
    dcheck(turn_phase_.load(std::memory_order_relaxed) <= over(), "a turn within a turn", turn);
    dcheck(turn == turn_.load(std::memory_order_relaxed) + 1, "a turn is left out", turn);
  }
  turn_phase_.store(called_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  turn_.store(turn, std::memory_order_relaxed);
  said_.store(value, std::memory_order_relaxed);
  if (leaders_ != nullptr) own_->here.say(turn, value);
  return enter();
}

/// In go_on(): the phases before the turn's are no turns, nor are those after it until it is over.
bool LedBarrier::is_turn(uint64_t phase) const noexcept {
  return phase == turn_phase_.load(std::memory_order_relaxed);
}

LedBarrier::Awaits LedBarrier::go_on() noexcept {
  for (;;) {
    const uint64_t before = over_.load(std::memory_order_relaxed);
    const uint64_t called = called_.load(std::memory_order_acquire);
    dcheck(before <= called, "more phases are over than were called", before, called);
    if (before >= called) return Awaits::kNothing;
    const Awaits awaits = pass(before + 1);
    if (awaits != Awaits::kNothing) return awaits;
    dcheck(!is_begun_, "a phase that is over is still begun", before);
    over_.store(before + 1, std::memory_order_release);
  }
}

LedBarrier::Awaits LedBarrier::pass(uint64_t phase) noexcept {
  if (leaders_ != nullptr) return pass_led(phase);
  if (!is_begun_) {
    is_begun_ = true;
    merged_ = is_turn(phase) ? said_.load(std::memory_order_relaxed) : kNoValue;
    next_led_ = round_ = 0;
  }
  if (!read_led(phase)) return Awaits::kLine;
  if (!disseminate(phase)) return Awaits::kMessage;
  dcheck(next_led_ == led_.size(), "a phase ends before a member has come", phase, next_led_);
  dcheck(round_ == round_seats_.size(), "a phase ends before its last round", phase, round_);
  is_begun_ = false;
  if (is_turn(phase)) {
    agreed_ = merged_;
    if (!led_.empty()) own_->over.say(turn_.load(std::memory_order_relaxed), merged_);
  }
  if (!led_.empty()) notify_line(own_->over, phase);
  return Awaits::kNothing;
}

LedBarrier::Awaits LedBarrier::pass_led(uint64_t phase) noexcept {
  if (!shows(*leaders_, phase, waits_sleep.load(std::memory_order_relaxed))) return Awaits::kLine;
  if (is_turn(phase)) agreed_ = leaders_->value(turn_.load(std::memory_order_relaxed));
  return Awaits::kNothing;
}

bool LedBarrier::read_led(uint64_t phase) noexcept {
  const bool sleeps = waits_sleep.load(std::memory_order_relaxed);
  for (; next_led_ < led_.size(); ++next_led_) {
    if (!shows(*led_[next_led_], phase, sleeps)) return false;
    if (!is_turn(phase)) continue;
    const uint64_t value = led_[next_led_]->value(turn_.load(std::memory_order_relaxed));
    merged_ = BarrierValue::merge_packed(merged_, value);
  }
  return true;
}

/// True when all rounds are in.
bool LedBarrier::disseminate(uint64_t phase) noexcept {
  for (;;) {
    if (round_ != 0) {
      Arrival& last = arrival(phase, round_ - 1);
      if (!last.here.load(std::memory_order_acquire)) return false;
      merged_ = BarrierValue::merge_packed(merged_, last.value.load(std::memory_order_relaxed));
      last.here.store(false, std::memory_order_relaxed);
    }
    if (round_ == round_seats_.size()) return true;
    send_round(phase);
  }
}

void LedBarrier::send_round(uint64_t phase) noexcept {
  dcheck(round_ < round_seats_.size(), "a round without a receiver", round_);
  const BarrierSeat& to = round_seats_[round_];
  const auto parity = static_cast<int32_t>(phase & 1);
  const BarrierValue value = BarrierValue::unpack(merged_);
  const int32_t args[] = {static_cast<int32_t>(to.index),
                          parity | static_cast<int32_t>(round_ << 1),
                          static_cast<int32_t>(value.kind), value.id};
  ++round_;
  request_short(to.jobrank, {kHandlerBarrier, 4, args});
}

bool LedBarrier::arrive(uint32_t parity, uint32_t round, uint64_t value) noexcept {
  if (round >= round_seats_.size()) return false;
  Arrival& now = arrival(parity, round);
  if (now.here.load(std::memory_order_relaxed)) return false;
  now.value.store(value, std::memory_order_relaxed);
  now.here.store(true, std::memory_order_release);  // pairs with the acquire in disseminate()
  defer(owner_);
  return true;
}

}  // namespace pinwire

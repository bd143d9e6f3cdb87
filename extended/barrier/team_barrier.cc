#include "extended/barrier/team_barrier.h"

#include <algorithm>
#include <mutex>

#include "am/message/done_count.h"
#include "am/wait/wait.h"
#include "am/wake/sleepers.h"
#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "extended/rma/sync.h"

namespace pinwire {
namespace {

/// An operation carries its count where it counts completions: it is done at the next.
constexpr uint32_t kCountMask = ~uint32_t{0} >> 1;
constexpr uint32_t low_bits(uint64_t count) noexcept {
  return static_cast<uint32_t>(count) & kCountMask;
}

}  // namespace

uint64_t TeamBarrier::count_of(uint32_t seat) noexcept {
  const shm::BarrierLines* lines = barrier_lines(engine.rank, seat);
  if (lines == nullptr) return 0;
  return std::max(lines->here.phase.load(std::memory_order_relaxed),
                  lines->over.phase.load(std::memory_order_relaxed));
}

void TeamBarrier::open(const std::vector<BarrierSeat>& seats, Rank me, uint64_t from) {
  check(me < seats.size(), "a member outside its team", me, seats.size());
  close();
  called_ = from;
  has_readers_ = seats.size() > 1 && may_have_lines(seats);
  if (seats.size() == 1) {
    own_ = &alone_;
    own_->phase.store(from, std::memory_order_relaxed);
    return;
  }
  if (!are_few_beside(seats)) return led.open(seats, me, from);
  for (Rank rank = 0; rank < seats.size(); ++rank) {
    shm::BarrierLines* lines = barrier_lines(seats[rank].jobrank, seats[rank].index);
    check(lines != nullptr, "a member beside without lines", rank);
    if (rank != me) others_.push_back(&lines->here);
  }
  own_ = &barrier_lines(engine.rank, seats[me].index)->here;
  // No member sleeps over it: those that read it for the team before have found what they wanted.
  if (from != own_->phase.load(std::memory_order_relaxed)) own_->notify(from);
}

void TeamBarrier::close() noexcept {
  check(is_quiet(), "a team ends while a barrier of it is under way", called_);
  led.close();
  others_.clear();
  own_ = nullptr;
  turn_ = 0;
}

/// Counts by lines alone, or by the phases of `led`.
uint64_t TeamBarrier::enter() noexcept {
  dcheck(own_ != nullptr || led.is_open(), "a barrier of a team that is not open", called_);
  if (own_ == nullptr) return called_ = led.enter();
  if constexpr (kChecks) {
    // It may be ahead: a child that the client forked has called a barrier, which is its misuse.
    dcheck(own_->shows(called_), "the line is behind its owner", called_);
  }
  notify_line(*own_, ++called_);
  return called_;
}

/// Whether all lines from `line` on show `count`; `line` stays at the first that does not.
bool TeamBarrier::all_show(uint64_t count, uint32_t& line) const noexcept {
  dcheck(line <= others_.size(), "a line behind the last one", line, others_.size());
  for (; line < others_.size(); ++line) {
    if (!others_[line]->shows(count)) return false;
  }
  return true;
}

/// Called before a sleep. False: the awaited member sends a message when its line shows `count`.
bool TeamBarrier::will_show(uint64_t count, uint32_t& line) const noexcept {
  for (;;) {
    const uint32_t missing = line;
    dcheck(missing < others_.size(), "a wait for no line", missing, others_.size());
    await_line(*others_[missing]);
    if (all_show(count, line)) return true;
    if (line == missing) return false;  // else the next line has no bit yet
  }
}

/// Waits until all members have called as often; `line` as for all_show().
void TeamBarrier::await(uint64_t count, uint32_t& line) noexcept {
  dcheck(count <= called_, "a wait for a barrier that was not called", count, called_);
  if (own_ == nullptr) return wait_until([this, count] { return led.over() >= count; });
  uint32_t misses = 0;
  wait_until([&] {
    if (all_show(count, line)) return true;
    const bool will_sleep = waits_sleep.load(std::memory_order_relaxed) &&
                            ++misses > engine.spins_now.load(std::memory_order_relaxed);
    // The processor reads the line for the next turns before it has ended this one, and would do
    // all of them anew once the line changes.
    cpu_relax();
    return will_sleep && will_show(count, line);
  });
}

void TeamBarrier::pass() noexcept {
  const uint64_t count = enter();
  if (own_ == nullptr) run_or_defer(*this);
  uint32_t line = 0;
  await(count, line);
  show_order_of_puts();
}

void TeamBarrier::notify(BarrierValue value) noexcept {
  dcheck(turn_ == 0 || phase_ <= called_, "the turn before was not called", phase_, called_);
  agreed_ = value.packed();
  line_ = 0;
  ++turn_;
  if (own_ == nullptr) {
    phase_ = called_ = led.enter_turn(turn_, agreed_);
    run_or_defer(*this);
    return;
  }
  own_->say(turn_, agreed_);
  phase_ = enter();
}

/// All members show the turn, and notify no other turn before this one has: their values stay.
void TeamBarrier::merge_values() noexcept {
  if (own_ == nullptr) {
    agreed_ = led.agreed();
  } else {
    dcheck(line_ == others_.size(), "a value that is not said yet", line_);
    for (const shm::BarrierLine* other : others_)
      agreed_ = BarrierValue::merge_packed(agreed_, other->value(turn_));
  }
  show_order_of_puts();
}

bool TeamBarrier::is_agreed() noexcept {
  dcheck(turn_ != 0 && phase_ <= called_, "nothing was notified", phase_, called_);
  if (own_ == nullptr ? led.over() < phase_ : !all_show(phase_, line_)) return false;
  merge_values();
  return true;
}

void TeamBarrier::await_agreed() noexcept {
  dcheck(turn_ != 0 && phase_ <= called_, "nothing was notified", phase_, called_);
  await(phase_, line_);
  merge_values();
}

void TeamBarrier::await_readers() noexcept {
  if (turn_ != 0 && has_readers_) pass();
}

gex_Event_t TeamBarrier::start() noexcept {
  pinwire_op* op = take_op();
  if (op == nullptr) [[unlikely]] {  // as all that start something: it is complete then
    pass();
    return GEX_EVENT_INVALID;
  }
  const uint64_t count = enter();
  uint32_t line = 0;
  if (own_ != nullptr && all_show(count, line)) {
    show_order_of_puts();
    return handle_of(op);
  }
  op->done.store(low_bits(count), std::memory_order_relaxed);
  op->started = low_bits(count) + 1;
  push(*op);
  own_ != nullptr ? defer(*this) : static_cast<void>(run_or_defer(*this));
  return op;
}

void TeamBarrier::push(pinwire_op& op) noexcept {
  const std::lock_guard<PinLock> guard(lock_);
  dcheck(first_ == nullptr || newest_ < called_, "barriers out of order", newest_, called_);
  dcheck((first_ == nullptr) == (last_ == nullptr), "a list that ends nowhere");
  op.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &op;
  last_ = &op;
  newest_ = called_;
  in_progress_.begin();
}

uint64_t TeamBarrier::count_of(const pinwire_op& op) const noexcept {
  return newest_ - ((low_bits(newest_) - op.done.load(std::memory_order_relaxed)) & kCountMask);
}

bool TeamBarrier::is_over(uint64_t count) const noexcept {
  if (own_ == nullptr) return led.over() >= count;
  uint32_t line = 0;
  if (all_show(count, line)) return true;
  cpu_relax();  // see await()
  return waits_sleep.load(std::memory_order_relaxed) && will_show(count, line);
}

/// nullptr: the first has not finished, or there is none.
pinwire_op* TeamBarrier::pop_finished() noexcept {
  const std::lock_guard<PinLock> guard(lock_);
  if (first_ == nullptr) return nullptr;
  pinwire_op* op = first_;
  if constexpr (kChecks)
    dcheck(count_of(*op) <= newest_, "a barrier after the last one", count_of(*op), newest_);
  if (!is_over(count_of(*op))) return nullptr;
  first_ = op->next;
  if (first_ == nullptr) last_ = nullptr;
  return op;
}

uint32_t TeamBarrier::finish_ops() noexcept {
  uint32_t finished = 0;
  while (pinwire_op* op = pop_finished()) {
    show_order_of_puts();
    ++finished;
    if (in_progress_.end([op] { count_done(op->done); })) return finished;
  }
  // The first one is not finished, so the team stays open meanwhile.
  if (!led.is_open()) defer(*this);
  return finished;
}

uint32_t TeamBarrier::go_on(Deferred& self) noexcept {
  auto& barrier = static_cast<TeamBarrier&>(self);
  const uint64_t over = barrier.led.over();
  const LedBarrier::Awaits awaits = barrier.led.go_on();
  if (awaits == LedBarrier::Awaits::kLine) defer(barrier);
  const auto passed = static_cast<uint32_t>(barrier.led.over() - over);
  return barrier.is_quiet() ? passed : passed + barrier.finish_ops();
}

}  // namespace pinwire

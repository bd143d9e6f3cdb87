#include "extended/coll/line_barrier.h"

#include <algorithm>
#include <mutex>

#include "am/progress.h"
#include "am/sleep.h"
#include "extended/coll/member.h"
#include "extended/sync.h"

namespace pinwire {
namespace {

constexpr uint32_t line_index_of(uint32_t seat) noexcept { return seat + 1; }

/// An operation carries its count where it counts completions: it is done at the next.
constexpr uint32_t kCountMask = ~uint32_t{0} >> 1;
constexpr uint32_t low_bits(uint64_t count) noexcept {
  return static_cast<uint32_t>(count) & kCountMask;
}

bool are_of_many_processes(const Member& member) {
  std::vector<Rank> processes;
  for (Rank rank = 0; rank < member.size; ++rank) processes.push_back(member.jobrank_of(rank));
  std::sort(processes.begin(), processes.end());
  return std::adjacent_find(processes.begin(), processes.end()) == processes.end();
}

}  // namespace

uint64_t LineBarrier::count_of(uint32_t seat) noexcept {
  const shm::BarrierLine* line = barrier_line(engine.rank, line_index_of(seat));
  return line != nullptr ? line->phase.load(std::memory_order_relaxed) : 0;
}

void LineBarrier::open(const Member& member, uint64_t from) {
  close();
  if (member.size == 1 || member.size > kMembersMax || !are_of_many_processes(member)) return;
  for (Rank rank = 0; rank < member.size; ++rank) {
    shm::BarrierLine* line =
        barrier_line(member.jobrank_of(rank), line_index_of(member.seat_of(rank)));
    if (line == nullptr) return close();
    if (rank != member.rank) others_.push_back(line);
  }
  own_ = barrier_line(engine.rank, line_index_of(member.seat));
  called_ = from;
  // Nobody sleeps over it: who read it for the team before has found what it wanted.
  if (from != count_of(member.seat)) own_->notify(from, 0);
}

void LineBarrier::close() noexcept {
  others_.clear();
  own_ = nullptr;
}

uint64_t LineBarrier::enter() noexcept {
  notify_line(*own_, ++called_, 0);
  return called_;
}

/// Of those from `line` on, which is left at one that does not.
bool LineBarrier::all_show(uint64_t count, uint32_t& line) const noexcept {
  uint64_t unused;
  for (; line < others_.size(); ++line) {
    if (!others_[line]->read(count, unused)) return false;
  }
  return true;
}

/// Before a sleep: false if who is awaited sends a message then.
bool LineBarrier::will_show(uint64_t count, uint32_t& line) const noexcept {
  for (;;) {
    const uint32_t missing = line;
    await_line(*others_[missing]);
    if (all_show(count, line)) return true;
    if (line == missing) return false;  // else the next line has no bit yet
  }
}

void LineBarrier::pass() noexcept {
  const uint64_t count = enter();
  uint32_t line = 0, misses = 0;
  wait_until([&] {
    if (all_show(count, line)) return true;
    const bool will_sleep = waits_sleep.load(std::memory_order_relaxed) &&
                            ++misses > engine.spins_now.load(std::memory_order_relaxed);
    return will_sleep && will_show(count, line);
  });
}

gex_Event_t LineBarrier::start() noexcept {
  pinwire_op* op = take_op();
  if (op == nullptr) [[unlikely]] {  // as all that start something: it is complete then
    pass();
    return GEX_EVENT_INVALID;
  }
  const uint64_t count = enter();
  uint32_t line = 0;
  if (all_show(count, line)) return handle_of(op);
  op->done.store(low_bits(count), std::memory_order_relaxed);
  op->started = low_bits(count) + 1;
  push(*op);
  defer(*this);
  return op;
}

void LineBarrier::push(pinwire_op& op) noexcept {
  const std::lock_guard<PinLock> guard(lock_);
  op.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &op;
  last_ = &op;
  newest_ = called_;
  pending_.fetch_add(1, std::memory_order_relaxed);
}

uint64_t LineBarrier::count_of(const pinwire_op& op) const noexcept {
  return newest_ - ((low_bits(newest_) - op.done.load(std::memory_order_relaxed)) & kCountMask);
}

/// nullptr: the first has not finished, or there is none.
pinwire_op* LineBarrier::pop_finished() noexcept {
  const std::lock_guard<PinLock> guard(lock_);
  if (first_ == nullptr) return nullptr;
  pinwire_op* op = first_;
  const uint64_t count = count_of(*op);
  uint32_t line = 0;
  const bool is_finished = all_show(count, line) ||
                           (waits_sleep.load(std::memory_order_relaxed) && will_show(count, line));
  if (!is_finished) return nullptr;
  first_ = op->next;
  if (first_ == nullptr) last_ = nullptr;
  return op;
}

uint32_t LineBarrier::go_on(Deferred& self) noexcept {
  auto& barrier = static_cast<LineBarrier&>(self);
  uint32_t finished = 0;
  while (pinwire_op* op = barrier.pop_finished()) {
    count_done(op->done);
    ++finished;
    // release pairs with the acquire in is_quiet(): the list is not looked at any more
    if (barrier.pending_.fetch_sub(1, std::memory_order_release) == 1) return finished;
  }
  if (!barrier.is_quiet()) defer(barrier);
  return finished;
}

}  // namespace pinwire

#include "extended/coll/progress/run.h"

#include "core/base/check.h"
#include "core/engine/lane.h"
#include "extended/coll/messages/mail.h"
#include "extended/coll/operation/collective.h"
#include "extended/coll/operation/pool.h"

namespace pinwire {
namespace {

/// Admits the operations that the client has started since the last turn, in the order of their
/// calls.
void admit(Member& member) noexcept {
  Collective* newest = member.submitted.exchange(nullptr, std::memory_order_acquire);
  Collective* oldest = nullptr;
  while (newest != nullptr) {
    Collective* before = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = before;
  }
  dcheck((member.first == nullptr) == (member.last == nullptr), "a list that ends nowhere");
  while (oldest != nullptr) {
    Collective* c = oldest;
    dcheck(c->member == &member, "an operation of another team", c->number);
    oldest = c->next;
    c->next = nullptr;
    check(c->number == member.admitted,
          "collectives of one team are called by one thread at a "
          "time (GX-141)",
          c->number, member.admitted);
    ++member.admitted;
    (member.last != nullptr ? member.last->next : member.first) = c;
    member.last = c;
  }
}

/// One barrier of an operation, in the boxes from `letters` on. False: a round has not arrived.
bool synchronise(Collective& c, uint32_t letters) noexcept {
  const Member& member = *c.member;
  for (;;) {
    dcheck(c.round <= member.rounds, "a round after the last one", c.round, member.rounds);
    if (c.round != 0 && !has_arrived(c, letters + c.round - 1)) return false;
    if (c.round == member.rounds) return true;
    const uint64_t to = (member.rank + (uint64_t{1} << c.round)) % member.size;
    send_signal(c, static_cast<Rank>(to), letters + c.round);
    ++c.round;
  }
}

/// True: it is finished.
bool go_on(Collective& c) noexcept {
  dcheck(c.is_live, "an operation goes on before its turn", c.number);
  dcheck(c.workspace != nullptr, "an operation goes on without memory", c.number);
  const uint32_t letters = c.member->data_boxes();
  if (c.stage == Collective::Stage::kBefore) {
    if (c.syncs_before && !synchronise(c, letters)) return false;
    c.stage = Collective::Stage::kScript;
    c.round = 0;
  }
  if (c.stage == Collective::Stage::kScript) {
    if (!c.script(c) || !all_taken(c)) return false;
    c.stage = Collective::Stage::kAfter;
    c.round = 0;
  }
  return !c.syncs_after || synchronise(c, letters + c.member->rounds);
}

void finish(Member& member, Collective& c) noexcept {
  if constexpr (kChecks) {
    dcheck(member.live[c.number % kWindowOps].load(std::memory_order_relaxed) == &c,
           "an operation that is not in the window ends", c.number);
    dcheck(member.finished.load(std::memory_order_relaxed) < member.admitted,
           "more operations end than begin", member.admitted);
    dcheck(all_taken(c), "an operation ends whose data is still offered", c.number);
    dcheck(c.running_streams.load(std::memory_order_relaxed) == nullptr,
           "an operation ends whose streams run on", c.number);
  }
  dcheck(c.done != nullptr, "an operation whose end nobody counts", c.number);
  member.live[c.number % kWindowOps].store(nullptr, std::memory_order_relaxed);
  DoneCount& done = *c.done;
  recycle(c);
  member.finished.store(member.finished.load(std::memory_order_relaxed) + 1,
                        std::memory_order_release);
  count_done(done);
}

/// All operations of the window that can go on.
uint32_t go_through_window(Member& member) noexcept {
  const uint64_t end = (member.epochs + 2) * kEpochOps;
  uint32_t finished = 0;
  Collective* before = nullptr;
  for (Collective* c = member.first; c != nullptr && c->number < end;) {
    Collective* next = c->next;
    dcheck(next == nullptr || next->number > c->number, "operations out of order", c->number);
    dcheck(next != nullptr || member.last == c, "a list with another end", c->number);
    if (!c->is_live) {
      c->is_live = true;
      take_workspace(*c);
      if constexpr (kChecks) {
        dcheck(member.live[c->number % kWindowOps].load(std::memory_order_relaxed) == nullptr,
               "two operations at one place of the window", c->number);
      }
      // release pairs with the acquire of handlers that find it
      member.live[c->number % kWindowOps].store(c, std::memory_order_release);
    }
    if (go_on(*c)) {
      (before != nullptr ? before->next : member.first) = next;
      if (member.last == c) member.last = before;
      finish(member, *c);
      ++finished;
    } else {
      before = c;
    }
    c = next;
  }
  return finished;
}

uint64_t finished_below(const Member& member) noexcept {
  return member.first != nullptr ? member.first->number : member.admitted;
}

/// True: another epoch is over, and so the window has moved.
bool go_on_with_epoch(Member& member) noexcept {
  if (finished_below(member) < (member.epochs + 1) * kEpochOps) return false;
  dcheck(member.epoch_round <= member.rounds, "an epoch of too many rounds", member.epoch_round,
         member.rounds);
  for (;;) {
    if (member.epoch_round != 0) {
      const uint32_t arrivals =
          member.epoch_arrivals[member.epoch_round - 1].load(std::memory_order_acquire);
      // They count on and on, one for each epoch.
      if (static_cast<int32_t>(arrivals - static_cast<uint32_t>(member.epochs)) <= 0) return false;
    }
    if (member.epoch_round == member.rounds) break;
    const uint64_t to = (member.rank + (uint64_t{1} << member.epoch_round)) % member.size;
    send_epoch(member, static_cast<Rank>(to), member.epoch_round);
    ++member.epoch_round;
  }
  ++member.epochs;
  dcheck(member.epochs * kEpochOps <= finished_below(member), "an epoch ends early", member.epochs);
  member.epoch_round = 0;
  member.epochs_over.store(member.epochs, std::memory_order_release);
  return true;
}

}  // namespace

uint32_t run_member(Deferred& work) noexcept {
  auto& member = static_cast<Member&>(work);
  if constexpr (kChecks) {
    dcheck(deferred_list.is_running(), "a member goes on beside another thread", member.seat);
  }
  dcheck(!this_thread.in_handler, "a handler goes on with operations", member.seat);
  uint32_t finished = 0;
  admit(member);
  do {
    finished += go_through_window(member);
  } while (go_on_with_epoch(member));
  if (member.gets != 0) defer(member);
  return finished;
}

}  // namespace pinwire

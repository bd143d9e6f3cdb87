#include "extended/coll/operation/start.h"

#include "am/message/done_count.h"
#include "am/poll/deferred.h"
#include "am/wait/wait.h"
#include "core/base/check.h"
#include "extended/coll/operation/pool.h"
#include "extended/rma/sync.h"
#include "extended/state/objects.h"

namespace pinwire {
namespace {

void submit(Collective& c, DoneCount& done) noexcept {
  Member& member = *c.member;
  if constexpr (kChecks) {
    dcheck(member.is_open.load(std::memory_order_relaxed),
           "a collective over a team that is closed");
  }
  dcheck(c.root < member.size, "a root outside the team", c.root, member.size);
  dcheck(c.script != nullptr, "an operation that does nothing", member.called);
  dcheck(!c.is_live, "an operation is called that is in the window", c.number);
  c.done = &done;
  c.number = member.called++;
  Collective* newest = member.submitted.load(std::memory_order_relaxed);
  do {
    c.next = newest;
    // release pairs with the acquire in admit()
  } while (!member.submitted.compare_exchange_weak(newest, &c, std::memory_order_release,
                                                   std::memory_order_relaxed));
  defer(member);
  run_deferred();
}

}  // namespace

Collective& new_collective(gex_TM_t tm, Collective::Script script) noexcept {
  dcheck(tm->member != nullptr, "a collective over a team that has ended");
  Collective& c = take_operation();
  dcheck(c.workspace == nullptr, "an operation of the pool is still at work", c.number);
  if constexpr (kChecks) {
    dcheck(c.running_streams.load(std::memory_order_relaxed) == nullptr, "its streams run on");
  }
  c.member = tm->member;
  c.script = script;
  c.next = nullptr;
  c.stage = Collective::Stage::kBefore;
  c.syncs_before = c.syncs_after = c.is_live = false;
  c.phase = c.round = 0;
  c.root = 0;
  c.dst = nullptr;
  c.src = nullptr;
  c.bytes = 0;
  c.sizes = nullptr;
  c.reduction = {};
  // Nothing is left of what came and went: of the operation before, all is taken and in place.
  c.sends = 0;
  for (uint32_t i = 0; i < c.member->data_boxes(); ++i) {
    if constexpr (kChecks) {
      dcheck(c.outbound[i].left.load(std::memory_order_relaxed) == 0,
             "data of the operation before is still offered", i);
    }
    dcheck(!c.inbound[i].is_begun || c.inbound[i].is_done,
           "data of the operation before is still under way", i);
    c.inbound[i].is_begun = c.inbound[i].is_done = false;
  }
  return c;
}

gex_Event_t start_collective(Collective& c) noexcept {
  pinwire_op* op = take_op();
  if (op == nullptr) [[unlikely]] {  // as all that start something: it is complete then
    run_collective(c);
    return GEX_EVENT_INVALID;
  }
  op->started = 1;
  submit(c, op->done);
  return handle_of(op);
}

void run_collective(Collective& c) noexcept {
  DoneCount done{0};
  submit(c, done);
  wait_until([&done] { return done.load(std::memory_order_acquire) != 0; });
}

}  // namespace pinwire

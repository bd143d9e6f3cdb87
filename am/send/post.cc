#include "am/send/post.h"

#include "am/poll/owed.h"
#include "am/wait/wait.h"

namespace pinwire {
namespace {

/// A few times what a peer that polls takes to make room.
constexpr uint32_t kPollsBeforeOwing = 128;

/// False: the handler waits on.
bool leave_owed(const Route& route, uint32_t lane, const Work& work) noexcept {
  constexpr uint8_t kFlags = kWorkCopied | kWorkSilent;
  if ((work.flags & kFlags) != kFlags || work.op == Op::kPut) return false;
  return owe_reply(engine.drivers[route.driver_index], lane, work);
}

}  // namespace

void offer_until_taken(const ThreadState& state, const Route& route, const Work& work) noexcept {
  uint32_t empty_polls = 0;
  do {
    if (poll() != 0) {
      empty_polls = 0;
    } else {
      after_empty_poll(empty_polls, Wait::kUnannounced);
    }
  } while (!offer_from_client(state, route, work));
}

void post_in_handler(uint32_t lane, const Route& route, const Work& work) noexcept {
  dcheck(this_thread.in_handler, "work of a handler outside of it", work.peer);
  this_thread.has_sent = true;
  const DriverLane& held = engine.drivers[route.driver_index].lanes[lane];
  uint32_t empty_polls = 0;
  for (uint32_t polls = 0;; ++polls) {
    // This reply may be fenced from those that are owed to its peer, so it must not overtake them.
    const bool is_behind = owes_to(held, work.peer);
    if (!is_behind && engine.offer(route.driver_index, lane, work)) return;
    if ((is_behind || polls >= kPollsBeforeOwing) && leave_owed(route, lane, work)) return;
    if (poll_in_handler(route.driver_index, lane) != 0) {
      empty_polls = 0;
    } else {
      after_empty_poll(empty_polls, Wait::kAwake);
    }
  }
}

}  // namespace pinwire

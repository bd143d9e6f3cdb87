// Lines in shared memory by which ranks of one host tell each other that they are at a barrier,
// whatever drivers carry their messages: the job's (extended/barrier.h), and those of teams
// (extended/coll/line_barrier.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/bootstrap/bootstrap.h"
#include "core/engine/engine.h"
#include "driver/shm/lines.h"
#include "extended/job.h"

namespace pinwire {

/// Ranks of a supernode share lines; none do of one where they cannot. Collective. Not called: no
/// rank shares any.
Status open_barrier_lines(Bootstrap& bootstrap, const std::vector<RankPlace>& places);

/// The lowest rank that shares lines with this one, itself if it is alone. The same on all ranks.
Rank first_beside(Rank jobrank) noexcept;
/// All ranks of the job do.
bool all_are_beside() noexcept;

/// nullptr: that rank and this one share no line of this index (0: of the job's barrier).
shm::BarrierLines* barrier_lines(Rank jobrank, uint32_t index) noexcept;

/// Writes to a line of this rank's own, and wakes who sleeps over it. Client context.
void notify_line(shm::BarrierLine& own, uint64_t phase, uint64_t value) noexcept;

/// Before each sleep over another's line, as a message may have been for the phase before: its
/// owner will send one. Read it once more after that. Client context.
void await_line(shm::BarrierLine& line) noexcept;

/// Before a barrier over lines or by way of the launcher, and after it. What a peer puts or sends,
/// another thread of this process may carry out under a lane's lock: the peer's line comes after its
/// puts of before, and this rank's line before those that the peer puts then, but ThreadSanitizer
/// does not see a peer.
inline void show_order_of_puts() noexcept {
#ifdef __SANITIZE_THREAD__
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    for (uint32_t lane = 0; lane < engine.drivers[d].lane_count; ++lane) {
      engine.drivers[d].lanes[lane].lock(engine.spins_now);
      engine.drivers[d].lanes[lane].unlock();
    }
  }
#endif
}

/// Once waits may sleep: whether the line shows the phase, or its owner will send a message.
inline bool shows(shm::BarrierLine& line, uint64_t phase, uint64_t& value, bool sleeps) noexcept {
  if (line.read(phase, value)) return true;
  if (!sleeps) [[likely]]
    return false;
  await_line(line);
  return line.read(phase, value);
}

}  // namespace pinwire

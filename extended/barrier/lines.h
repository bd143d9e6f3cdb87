// Lines in shared memory by which ranks of one host tell each other that they are at a barrier of a
// team, whatever drivers carry their messages (extended/barrier/team_barrier.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/bootstrap/bootstrap.h"
#include "driver/shm/lines.h"
#include "extended/state/job.h"
#include "extended/state/order_of_puts.h"

namespace pinwire {

/// Ranks of a supernode share lines; none do of one where they cannot. Collective. Not called: no
/// rank shares any.
Status open_barrier_lines(Bootstrap& bootstrap, const std::vector<RankPlace>& places);

/// The lowest rank that shares lines with this one, itself if it is alone. The same on all ranks.
Rank first_local_rank(Rank jobrank) noexcept;
/// All ranks of the job do.
bool all_ranks_local() noexcept;

/// nullptr: that rank and this one share no line of this index, a seat of each (0: of the job's
/// team).
shm::BarrierLines* barrier_lines(Rank jobrank, uint32_t index) noexcept;

/// Writes to a line of this rank's own, and wakes the ranks that sleep over it. Client context.
void notify_line(shm::BarrierLine& own, uint64_t phase) noexcept;

/// Before each sleep over another's line, as a message may have been for the phase before: its
/// owner will send one. Read it once more after that. Client context.
void await_line(shm::BarrierLine& line) noexcept;

/// Once waits may sleep: whether the line shows the phase, or its owner will send a message.
inline bool shows(shm::BarrierLine& line, uint64_t phase, bool sleeps) noexcept {
  if (line.shows(phase)) return true;
  if (!sleeps) [[likely]]
    return false;
  await_line(line);
  return line.shows(phase);
}

}  // namespace pinwire

// Lines in shared memory by which ranks of one host tell each other that they are at a barrier: the
// job's (extended/barrier.h), and those of teams (extended/coll/line_barrier.h).
#pragma once

#include <cstdint>

#include "driver/shm/shm.h"

namespace pinwire {

/// `shm`: the driver, and its index in the engine; nullptr: there are no lines.
void open_barrier_lines(ShmDriver* shm, uint32_t shm_index) noexcept;

/// nullptr: that rank and this one share no line of this index (0: of the job's barrier).
shm::BarrierLine* barrier_line(Rank jobrank, uint32_t index) noexcept;

/// Writes to a line of this rank's own, and wakes who sleeps over it. Client context.
void notify_line(shm::BarrierLine& own, uint64_t phase, uint64_t value) noexcept;

/// Before each sleep over another's line, as a message may have been for the phase before: its
/// owner will send one. Read it once more after that. Client context.
void await_line(shm::BarrierLine& line) noexcept;

}  // namespace pinwire

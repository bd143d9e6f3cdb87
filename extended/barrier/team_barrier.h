// The barriers of a team: GASNet-EX's (GX-144), and the split-phase one with values beneath
// extended/barrier/barrier.h, which count together. Where its members share memory, and are not
// many, each counts its calls on a line that the others read, one cache-line transfer; otherwise
// extended/barrier/led_barrier.h. A call is none of the team's numbered operations, and needs
// nothing of theirs.
//
// Lines belong to seats (Member), and so to one team after the other: counts go on from the highest
// line of any member, so that a member that still reads for the team before finds enough.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "am/poll/deferred.h"
#include "core/api_types.h"
#include "driver/shm/host_memory.h"
#include "extended/barrier/in_progress.h"
#include "extended/barrier/led_barrier.h"
#include "extended/barrier/value.h"
#include "pin/lock.h"

namespace pinwire {

class TeamBarrier : private Deferred {
 public:
  TeamBarrier() noexcept : led(*this) { run = go_on; }

  /// The count that the lines of this process's seat show.
  static uint64_t count_of(uint32_t seat) noexcept;
  /// `seats`: of all members, `me` is this one. `from`: the highest count of the members' lines,
  /// the same for all.
  void open(const std::vector<BarrierSeat>& seats, Rank me, uint64_t from);
  /// Not before every member has read what the others notified with a value (await_readers()).
  void close() noexcept;
  /// Nothing that start() began is in progress.
  bool is_quiet() const noexcept { return in_progress_.is_none(); }

  /// Client context, one thread of the member's at a time.
  void pass() noexcept;
  gex_Event_t start() noexcept;

  /// A split-phase barrier with values, one at a time: wait until is_agreed(), then agreed() is the
  /// value that all members' values merged to. Meanwhile the member may pass and start others.
  void notify(BarrierValue value) noexcept;
  bool is_agreed() noexcept;
  void await_agreed() noexcept;
  BarrierValue agreed() const noexcept { return BarrierValue::unpack(agreed_); }
  /// A member may still read a value of this one's, which another team would write over. Collective
  /// over the team, but where members have no lines: one process may have several then, and its
  /// thread ends one after the other.
  void await_readers() noexcept;

  LedBarrier led;  ///< open where members do not all share lines

 private:
  static uint32_t go_on(Deferred& self) noexcept;
  uint32_t finish_ops() noexcept;
  uint64_t enter() noexcept;
  void await(uint64_t count, uint32_t& line) noexcept;
  bool is_over(uint64_t count) const noexcept;
  bool all_show(uint64_t count, uint32_t& line) const noexcept;
  bool will_show(uint64_t count, uint32_t& line) const noexcept;
  void merge_values() noexcept;
  uint64_t count_of(const pinwire_op& op) const noexcept;
  void push(pinwire_op& op) noexcept;
  pinwire_op* pop_finished() noexcept;

  std::vector<shm::BarrierLine*> others_;
  shm::BarrierLine* own_ = nullptr;  ///< nullptr: not by lines alone
  uint64_t called_ = 0;              ///< what `own_` shows; of callers
  shm::BarrierLine alone_{};         ///< `own_` of a single member, which nobody reads

  // The last barrier with values.
  uint64_t turn_ = 0;   ///< counts them
  uint64_t phase_ = 0;  ///< its count
  uint32_t line_ = 0;   ///< those before it show `phase_`
  uint64_t agreed_ = 0;
  bool has_readers_ = false;  ///< of its lines; the same for all members

  PinLock lock_;                 ///< of the list
  pinwire_op* first_ = nullptr;  ///< not finished, in order
  pinwire_op* last_ = nullptr;
  uint64_t newest_ = 0;  ///< count of `last_`
  BasicInProgress<shm::HostMemory> in_progress_;
};

}  // namespace pinwire

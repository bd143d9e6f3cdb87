#include "extended/coll/progress/seats.h"

#include <bit>
#include <memory>
#include <mutex>
#include <vector>

#include "am/poll/deferred.h"
#include "am/wait/deferred_pause.h"
#include "am/wait/wait.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "extended/coll/operation/pool.h"
#include "extended/coll/progress/run.h"
#include "extended/state/objects.h"
#include "pin/lock.h"

namespace pinwire {
namespace {

struct FreeSeats {
  PinLock lock;
  uint32_t used = 0;        ///< seats that have a Member
  Member* first = nullptr;  ///< of those that have no team, by `next_free`
};
FreeSeats free_seats;

/// The link of free seats is apart from that of deferred work, so that a Member may be free while
/// it is listed as deferred.
struct Seat : Member {
  Seat* next_free = nullptr;
};

std::vector<BarrierSeat> seats_of(const Member& member) {
  std::vector<BarrierSeat> seats;
  for (Rank rank = 0; rank < member.size; ++rank) {
    seats.push_back({member.jobrank_of(rank), member.seat_of(rank)});
  }
  return seats;
}

}  // namespace

void open_team_barrier(Member& member, uint64_t from) {
  member.barrier.of_team.open(seats_of(member), member.rank, from);
}

Member& take_seat() noexcept {
  const std::lock_guard<PinLock> guard(free_seats.lock);
  if (free_seats.first != nullptr) {
    auto* seat = static_cast<Seat*>(free_seats.first);
    free_seats.first = seat->next_free;
    dcheck(!seat->is_open.load(std::memory_order_relaxed), "a free seat has a team", seat->seat);
    dcheck(seat->boxes == nullptr, "a free seat has letter boxes", seat->seat);
    return *seat;
  }
  if (free_seats.used == kSeatsMax) {
    fatal(
        "a process is in at most %u teams at once; destroy those that are done with "
        "(gex_TM_Destroy)",
        kSeatsMax);
  }
  auto* seat = new Seat;
  seat->run = run_member;
  seat->seat = free_seats.used;
  ++free_seats.used;
  list_seat(*seat);
  return *seat;
}

void open_seat(Member& member, gex_TM_t tm, const uint32_t* seats_of_all,
               uint64_t lines_from) noexcept {
  // A thread that found the seat on the list for the team before may be at it just now.
  const DeferredPause pause;
  check(!member.is_open.load(std::memory_order_relaxed), "a seat has a team already", member.seat);
  check(tm->rank < tm->size, "a member outside its team", tm->rank, tm->size);
  check(member.first == nullptr, "a seat with operations of the team before", member.seat);
  check(member.submitted.load(std::memory_order_relaxed) == nullptr,
        "a seat with calls of the team before", member.seat);
  check(member.gets == 0, "a seat with gets of the team before", member.gets);
  check(member.scratch_parts == 0, "a seat with scratch of the team before", member.scratch_parts);
  if constexpr (kChecks) {
    for (const auto& live : member.live) {
      dcheck(live.load(std::memory_order_relaxed) == nullptr, "a window that is not empty",
             member.seat);
    }
  }
  member.tm = tm;
  member.rank = tm->rank;
  member.size = tm->size;
  member.rounds = static_cast<uint32_t>(std::bit_width(tm->size - 1));
  check(member.rounds <= kRoundsMax, "a team of too many members", tm->size);
  member.seats = seats_of_all;
  member.called = member.admitted = member.epochs = 0;
  member.epoch_round = 0;
  member.epochs_over.store(0, std::memory_order_relaxed);
  member.finished.store(0, std::memory_order_relaxed);
  member.barrier.forget();
  open_team_barrier(member, lines_from);
  for (auto& arrivals : member.epoch_arrivals) arrivals.store(0, std::memory_order_relaxed);
  if (tm->size > 1) {
    member.boxes = std::make_unique<LetterBox[]>(kWindowOps * member.boxes_each());
    // Touched as it is used: as a rule, little of it.
    const size_t letters = size_t{kWindowOps} * member.data_boxes();
    member.payloads = std::make_unique_for_overwrite<std::byte[]>(letters * kSmallBytesMax);
    member.large_payloads = std::make_unique_for_overwrite<std::byte[]>(letters * kLargeStride);
  }
  widen_pool();
  member.is_open.store(true, std::memory_order_release);
}

bool is_quiet(const Member& member) noexcept {
  return member.finished.load(std::memory_order_acquire) == member.called &&
         !member.barrier.is_notified() && member.barrier.of_team.is_quiet();
}

void close_seat(Member& member) noexcept {
  check(member.is_open.load(std::memory_order_relaxed), "a seat closes that has no team",
        member.seat);
  check(is_quiet(member), "a team ends before its collectives", member.called);
  // All members have called as many operations, and their last epoch is over here when every
  // message of it has arrived.
  const uint64_t epochs = member.called / kEpochOps;
  wait_until([&member, epochs] {
    if (member.epochs_over.load(std::memory_order_acquire) == epochs) return true;
    defer(member);
    return false;
  });
  member.barrier.of_team.await_readers();
  member.is_open.store(false, std::memory_order_relaxed);
  member.barrier.of_team.close();
  member.boxes.reset();
  member.payloads.reset();
  member.large_payloads.reset();
  narrow_pool();
  auto& seat = static_cast<Seat&>(member);
  const std::lock_guard<PinLock> guard(free_seats.lock);
  seat.next_free = static_cast<Seat*>(free_seats.first);
  free_seats.first = &seat;
}

LedBarrier* led_barrier_of(uint32_t seat) noexcept {
  Member* member = find_seat(seat);
  if (member == nullptr) return nullptr;
  LedBarrier& led = member->barrier.of_team.led;
  return led.is_open() ? &led : nullptr;
}

}  // namespace pinwire

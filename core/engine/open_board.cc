#include "core/engine/open_board.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "core/engine/client_usage.h"

namespace pinwire {
namespace {

constexpr uint32_t kSeats = 256;
constinit BoardSeat board_seats[kSeats];
constinit BoardSeat nobody_looks;

/// Reported of each seat, by the thread that looks.
struct ToldOfSeat {
  int64_t section_ns, locks_ns;
};
constinit ToldOfSeat told_of_seats[kSeats] = {};
constinit std::mutex looking;

bool is_gone(int thread_id) noexcept {
  return syscall(SYS_tgkill, getpid(), thread_id, 0) != 0 && errno == ESRCH;
}

void warn_if_long(const char* what, const BoardLine& line, int thread_id,
                  int64_t& told_ns) noexcept {
  const int64_t since_ns = line.since_ns();
  const int64_t lasts_ns = clock_ns(CLOCK_MONOTONIC) - since_ns;
  Place place;
  if (since_ns == 0 || since_ns == told_ns || lasts_ns <= hold_limit_ns) return;
  if (!line.read(since_ns, place)) return;
  told_ns = since_ns;
  warn_of_breach_by(thread_id, "C1-294",
                    "%s at %s, lasts for %.3f s by now: that thread's messages wait meanwhile, and "
                    "wait for ever if it never ends (GASNET_HOLD_LIMIT)",
                    what, PlaceText(place).text(), 1e-9 * static_cast<double>(lasts_ns));
}

void look_at(uint32_t seat) noexcept {
  BoardSeat& its = board_seats[seat];
  const int thread_id = its.thread_id.load(std::memory_order_acquire);
  if (thread_id == 0) return;
  warn_if_long("a No-Interrupt Section, opened", its.section, thread_id,
               told_of_seats[seat].section_ns);
  warn_if_long("a handler-safe lock, locked", its.locks, thread_id, told_of_seats[seat].locks_ns);
  // release: with nothing open, as the next thread there finds it (board_seat)
  if (its.section.since_ns() == 0 && its.locks.since_ns() == 0 && is_gone(thread_id))
    its.thread_id.store(0, std::memory_order_release);
}

}  // namespace

BoardSeat& board_seat() noexcept {
  static constinit thread_local BoardSeat* mine = nullptr;
  if (mine != nullptr) return *mine;
  for (BoardSeat& seat : board_seats) {
    int nobody = 0;
    if (!seat.thread_id.compare_exchange_strong(nobody, gettid(), std::memory_order_acquire,
                                                std::memory_order_relaxed))
      continue;
    mine = &seat;
    return seat;
  }
  mine = &nobody_looks;
  return *mine;
}

void warn_of_what_is_open() noexcept {
  if (hold_limit_ns == 0) return;
  const std::lock_guard guard(looking);
  for (uint32_t seat = 0; seat < kSeats; ++seat) look_at(seat);
}

}  // namespace pinwire

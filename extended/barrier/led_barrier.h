// Barriers one after the other, of members that do not all share memory: the members of one host
// notify the first of them, their leader, by lines (extended/barrier/lines.h); leaders disseminate
// by active messages, ceil(log2 hosts) rounds, and each leader shows on a line of its own when the
// barrier is over. A member that shares no lines leads itself.
//
// A member may call one barrier after another without waiting. To some of them, which are counted
// in turns, each member passes a value (BarrierValue::packed()), and all members get the merged
// value. A turn is over before the next one is called; other barriers may be called meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "am/poll/deferred.h"
#include "extended/barrier/lines.h"

namespace pinwire {

/// A member, by the process and the index of its lines there.
struct BarrierSeat {
  Rank jobrank;
  uint32_t index;
};

/// Whether members may have lines: there is one for each, and no two members are of one process,
/// which does not wake itself. The same on all.
bool may_have_lines(const std::vector<BarrierSeat>& seats);
/// Whether all members share lines, so few that each may read every other's. The same on all.
bool are_few_beside(const std::vector<BarrierSeat>& seats);

class LedBarrier {
 public:
  /// `owner`: what go_on() is called by, and is deferred when a message has come for it.
  explicit LedBarrier(Deferred& owner) noexcept : owner_(owner) {}

  /// `seats`: of all members, in the same order on all. From `from` on phases are counted, the same
  /// on all and no less than any of their lines shows. Messages may come from then on.
  void open(const std::vector<BarrierSeat>& seats, Rank me, uint64_t from);
  void close() noexcept;
  bool is_open() const noexcept { return is_open_; }

  /// Begins the next phase, and returns its number; go_on() then. Client context.
  uint64_t enter() noexcept;
  /// The same with a value.
  uint64_t enter_turn(uint64_t turn, uint64_t value) noexcept;
  /// The number of phases that are over; and the value that the last turn among them merged to.
  uint64_t over() const noexcept { return over_.load(std::memory_order_acquire); }
  uint64_t agreed() const noexcept { return agreed_; }

  /// The event that the next phase waits for. kLine: the owner must look at a line again; kMessage:
  /// the message defers the owner.
  enum class Awaits : uint8_t { kNothing, kLine, kMessage };
  /// Continues the phase; for Deferred::run.
  Awaits go_on() noexcept;

  /// A round's message. Any context. False: there is no such round.
  bool arrive(uint32_t parity, uint32_t round, uint64_t value) noexcept;

 private:
  struct Arrival {
    std::atomic<bool> here{false};
    std::atomic<uint64_t> value{0};
  };
  Arrival& arrival(uint64_t phase, uint32_t round) const noexcept {
    return arrivals_[(phase & 1) * round_seats_.size() + round];
  }
  void choose_leader(const std::vector<BarrierSeat>& seats, Rank me);
  void choose_rounds(const std::vector<BarrierSeat>& seats, const std::vector<Rank>& leaders,
                     Rank me);
  bool is_turn(uint64_t phase) const noexcept;
  Awaits pass_led(uint64_t phase) noexcept;
  Awaits pass(uint64_t phase) noexcept;
  bool read_led(uint64_t phase) noexcept;
  bool disseminate(uint64_t phase) noexcept;
  void send_round(uint64_t phase) noexcept;

  Deferred& owner_;
  bool is_open_ = false;
  shm::BarrierLines* own_ = nullptr;      ///< nullptr: nobody reads them
  shm::BarrierLine* leaders_ = nullptr;   ///< the leader's `over`; nullptr: this member leads
  std::vector<shm::BarrierLine*> led_;    ///< `here` of those that it leads
  std::vector<BarrierSeat> round_seats_;  ///< that it sends to in each round
  // A peer may be one phase ahead, never two: two sets, by the parity of the phase.
  std::unique_ptr<Arrival[]> arrivals_;

  std::atomic<uint64_t> called_{0};      ///< phases; by the client's calls
  std::atomic<uint64_t> turn_phase_{0};  ///< of the last turn that was called
  std::atomic<uint64_t> turn_{0};        ///< its number
  std::atomic<uint64_t> said_{0};        ///< its value
  std::atomic<uint64_t> over_{0};        ///< release after agreed_ pairs with over()
  // The state of go_on(), for the phase after over_.
  bool is_begun_ = false;
  uint64_t merged_ = 0;    ///< so far
  uint64_t agreed_ = 0;    ///< by the last turn
  uint32_t next_led_ = 0;  ///< those before it have come
  uint32_t round_ = 0;     ///< rounds sent
};

/// Messages name a barrier by the index of its lines. `find`: in any context; nullptr: none is
/// open.
void open_led_barriers(LedBarrier* (*find)(uint32_t index)) noexcept;

}  // namespace pinwire

// Barriers one after the other, of members that do not all share memory: the members of one host
// notify the first of them, their leader, by lines (extended/barrier/lines.h); leaders disseminate
// by active messages, ceil(log2 hosts) rounds, and each leader shows on a line of its own when the
// barrier is over. A member that shares no lines leads itself.
//
// Each member passes a value to each barrier (BarrierValue::packed()), and all members get the
// merged value. A member may call one barrier after another without waiting, if values do not
// count.
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
  uint64_t enter(uint64_t value) noexcept;
  /// The number of phases that are over; and the value that the last of them merged to.
  uint64_t over() const noexcept { return over_.load(std::memory_order_acquire); }
  uint64_t merged() const noexcept { return merged_; }

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
  void merge(uint64_t value) noexcept;
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

  std::atomic<uint64_t> called_{0};  ///< phases; by the client's calls
  std::atomic<uint64_t> said_{0};    ///< with the last of them
  std::atomic<uint64_t> over_{0};    ///< release after merged_ pairs with over()
  // The state of go_on(), for the phase after over_.
  bool is_begun_ = false;
  uint64_t merged_ = 0;
  uint32_t next_led_ = 0;  ///< those before it have come
  uint32_t round_ = 0;     ///< rounds sent
};

/// Messages name a barrier by the index of its lines. `find`: in any context; nullptr: none is
/// open.
void open_led_barriers(LedBarrier* (*find)(uint32_t index)) noexcept;

}  // namespace pinwire

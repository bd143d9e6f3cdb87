#include "tests/sim/oracle/repeats.h"

#include <bit>

namespace pinwire::sim {
namespace {

constexpr uint64_t kSilenceNs = 20'000;    ///< a shorter one explains nothing
constexpr uint64_t kOftenNs = 50'000'000;  ///< a timeout of a long silence comes so often
constexpr uint64_t kFlowsOfPeer = 3;
constexpr uint64_t kUnknownPathOfRank =
    12;                               ///< before its paths' round trips and reordering are known
constexpr uint64_t kUnknownPath = 1;  ///< of each, when all ranks begin at once
constexpr uint64_t kUnknownPathLeast = 16;
constexpr uint64_t kShare = 100;  ///< one frame in so many
constexpr uint64_t kSlowLinkBits = 1'000'000'000;
constexpr uint64_t kSlowShare = 25;  ///< where few frames are a queue of milliseconds

}  // namespace

Repeats::Repeats(const Scenario& scenario, const Schedule& schedule)
    : scenario_(scenario), schedule_(schedule), polled_ns_(scenario.ranks, schedule.now()) {}

void Repeats::polled(Rank rank, bool was_deaf) {
  if (was_deaf) silences_ += timeouts_of(schedule_.now() - polled_ns_[rank]);
  polled_ns_[rank] = schedule_.now();
}

uint64_t Repeats::timeouts_of(uint64_t silence_ns) {
  return static_cast<uint64_t>(std::bit_width(silence_ns / kSilenceNs)) + silence_ns / kOftenNs;
}

uint64_t Repeats::allowed(const FabricCounts& faults, const Counted& counted) const {
  // The fabric damages some, and injects some; the others' memory changed.
  const uint64_t not_changed = faults.corrupted + faults.truncated + faults.injected;
  const uint64_t changed = counted.damaged > not_changed ? counted.damaged - not_changed : 0;
  const uint64_t lost = faults.lost + faults.partitioned + faults.corrupted + faults.truncated +
                        faults.overrun + faults.unbuffered + faults.oversized + changed;
  const uint64_t silences = silences_ + faults.mute_timeouts;
  const uint64_t share = scenario_.link_bits_per_s <= kSlowLinkBits ? kSlowShare : kShare;
  const uint64_t paths_learnt = scenario_.path_slower_ns == 0 ? 1 : 2;
  const uint64_t unknown =
      kUnknownPathOfRank * scenario_.ranks + kUnknownPath * scenario_.ranks * (scenario_.ranks - 1);
  return lost + lost / 2 + counted.refused + faults.detoured + faults.overtaken +
         counted.frames / share + kFlowsOfPeer * (scenario_.ranks - 1) * silences +
         paths_learnt * unknown + kUnknownPathLeast;
}

}  // namespace pinwire::sim

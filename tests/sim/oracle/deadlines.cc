#include "tests/sim/oracle/deadlines.h"

#include <algorithm>
#include <cmath>

#include "nicfw/flow/congestion.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kFloorNs =
    75'000'000;  ///< what timers, stalled ranks and windows of one frame explain
constexpr uint64_t kAttentiveGapNs = 10'000'000;  ///< a rank that polls as often as this is there
/// After an absence or a cut: until timers that backed off meanwhile have fired.
constexpr uint64_t kRecoveryNs = 2'500'000'000;
constexpr uint64_t kPathFrameBytes = 1'514;  ///< what every path carries ...
constexpr uint64_t kOverheadBytes = 138;     ///< ... and what of that is no payload
constexpr uint32_t kBuffersMany = 64;
constexpr uint32_t kSwitchBufferMany = 1 << 20;
constexpr double kScarceLoss = 0.1;
constexpr double kTriesQuick = 16;      ///< then nicfw takes the peer for one that computes ...
constexpr double kSlowTry = 20;         ///< ... and tries once in so many of its longest timeouts
constexpr double kRarestChance = 1e-9;  ///< of a frame's losses in a row that still happen

/// How often in a row a frame or its acknowledgement may get lost. Too few buffers lose, too.
double tries_of(const Scenario& scenario) {
  const LinkFaults& faults = scenario.faults;
  const bool scarce =
      scenario.rx_buffers < kBuffersMany || scenario.switch_buffer_bytes < kSwitchBufferMany;
  const double one_way = (1 - faults.loss) * (1 - faults.corrupt) * (1 - faults.truncate) *
                         (1 - faults.burst) * (scarce ? 1 - kScarceLoss : 1);
  const double lost = 1 - one_way * one_way;
  return lost < 1e-6 ? 0 : std::ceil(std::log(kRarestChance) / std::log(lost));
}

}  // namespace

uint64_t deadline_of(const Scenario& scenario) {
  const LinkFaults& faults = scenario.faults;
  const uint64_t round_trip_ns =
      2 * (2 * faults.delay_ns + scenario.path_slower_ns + faults.jitter_ns + faults.detour_ns);
  const uint64_t bytes =
      uint64_t{scenario.ranks} * scenario.in_flight_max * scenario.message_bytes_max;
  const uint64_t drain_ns = bytes * 8 * 1'000'000'000 / scenario.link_bits_per_s;
  const double tries = tries_of(scenario);
  const double timeouts =
      std::min(tries, kTriesQuick) + kSlowTry * std::max(0.0, tries - kTriesQuick);
  const double loss_ns = timeouts * static_cast<double>(scenario.nic.rto_max_ns) +
                         tries * static_cast<double>(faults.burst_ns);
  // Losses, or frames that are overtaken by far, may hold a window at one frame or below: then what
  // is under way to a peer goes frame by frame, each a round trip or a pace after the one before,
  // as it does to a slow rank that has few buffers.
  const uint64_t payload_bytes =
      std::min<uint64_t>(kPathFrameBytes, scenario.frame_bytes_max) - kOverheadBytes;
  const uint64_t frames = scenario.in_flight_max * (scenario.message_bytes_max / payload_bytes + 1);
  const bool may_lose = tries != 0 || faults.reorder > 0;
  const uint64_t lossy_ns =
      may_lose ? std::max<uint64_t>(CongestionWindow::kPaceMaxNs, round_trip_ns / 2) : 0;
  const uint64_t slow_ns = scenario.slow_ranks == 0 ? 0 : scenario.poll_ns * kSlowPollFactor;
  const uint64_t pace_ns = frames * std::max(lossy_ns, slow_ns);
  return kFloorNs + 64 * round_trip_ns + 4 * drain_ns + pace_ns + static_cast<uint64_t>(loss_ns);
}

Deadlines::Deadlines(const Scenario& scenario, const Schedule& schedule, Verdict& verdict)
    : scenario_(scenario),
      schedule_(schedule),
      verdict_(verdict),
      start_ns_(schedule.now()),
      bound_ns_(deadline_of(scenario)),
      polled_ns_(scenario.ranks, schedule.now()),
      excused_ns_(scenario.ranks),
      recovered_ns_(scenario.ranks) {}

uint64_t Deadlines::begin(Rank from, Rank to, const char* what) {
  // To recover from an absence that still lasts is excused when it ends, later than here.
  const uint64_t excused = excused_ns_[from] + gap_ns(from) + excused_ns_[to] + gap_ns(to);
  // Nor does what begins before both have recovered count until then.
  const uint64_t since_ns = std::max({schedule_.now(), recovered_ns_[from], recovered_ns_[to]});
  open_[next_] = {from, to, what, since_ns, excused};
  return next_++;
}

void Deadlines::end(uint64_t number) {
  const auto found = open_.find(number);
  if (found == open_.end()) return;
  judge(found->second);
  open_.erase(found);
}

void Deadlines::polled(Rank rank) {
  excused_ns_[rank] = excused_ns(rank);
  if (gap_ns(rank) != 0) recovered_ns_[rank] = schedule_.now() + kRecoveryNs;
  polled_ns_[rank] = schedule_.now();
}

void Deadlines::check() {
  for (const auto& [number, owed] : open_) judge(owed);
}

/// How long the rank has been absent now; 0: it polls.
uint64_t Deadlines::gap_ns(Rank rank) const {
  const uint64_t gap_ns = schedule_.now() - polled_ns_[rank];
  return gap_ns > kAttentiveGapNs ? gap_ns : 0;
}

uint64_t Deadlines::excused_ns(Rank rank) const {
  const uint64_t gap = gap_ns(rank);
  return excused_ns_[rank] + (gap != 0 ? gap + kRecoveryNs : 0);
}

/// How much of the time since then a partition takes, with what it takes to recover from it.
uint64_t Deadlines::cut_ns(uint64_t since_ns) const {
  uint64_t cut_ns = 0;
  for (const Partition& partition : scenario_.partitions) {
    const uint64_t from_ns = std::max(since_ns, start_ns_ + partition.from_ns);
    const uint64_t recovered_ns = start_ns_ + partition.until_ns + kRecoveryNs;
    const uint64_t until_ns = std::min(schedule_.now(), recovered_ns);
    if (from_ns < until_ns) cut_ns += until_ns - from_ns;
  }
  return cut_ns;
}

void Deadlines::judge(const Owed& owed) {
  if (scenario_.crime != Crime::kNone) return;  // a failed driver owes nothing
  const uint64_t excused_ns = this->excused_ns(owed.from) + this->excused_ns(owed.to) -
                              owed.excused_ns + cut_ns(owed.since_ns);
  const uint64_t age_ns = schedule_.now() > owed.since_ns ? schedule_.now() - owed.since_ns : 0;
  const uint64_t counted_ns = age_ns > excused_ns ? age_ns - excused_ns : 0;
  worst_share_ =
      std::max(worst_share_, static_cast<double>(counted_ns) / static_cast<double>(bound_ns_));
  if (counted_ns <= bound_ns_) return;
  verdict_.fail(
      "%s of rank %u to rank %u took %.3f ms, of which they polled %.3f: the bound is "
      "%.3f, whatever other ranks do",
      owed.what, owed.from, owed.to, static_cast<double>(age_ns) / 1e6,
      static_cast<double>(counted_ns) / 1e6, static_cast<double>(bound_ns_) / 1e6);
}

}  // namespace pinwire::sim

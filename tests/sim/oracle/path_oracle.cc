#include "tests/sim/oracle/path_oracle.h"

namespace pinwire::sim {

/// Where frames are lost by chance, too, or in a full switch, a rank may take a hole for chance,
/// and chance for a hole.
bool PathOracle::is_certain(const Fabric& fabric) const noexcept {
  const LinkFaults& faults = scenario_.faults;
  return fabric.counts().overrun == 0 && faults.loss == 0 && faults.burst == 0 &&
         faults.corrupt == 0 && faults.truncate == 0 && scenario_.partitions.empty() &&
         scenario_.crime == Crime::kNone && !scenario_.hostile && scenario_.path_opens_ns == 0;
}

/// From one rank to another. Only probes vanish on a path that was narrow from the beginning.
uint64_t PathOracle::vanished_max() const noexcept {
  constexpr uint64_t kProbesMax = 64;
  constexpr uint64_t kFlows = 3;
  constexpr uint64_t kSendsMax = 8;  ///< also while a loss by chance looks like congestion
  const uint64_t in_flight =
      scenario_.path_narrows_ns == 0 ? 0 : kFlows * kSendsMax * scenario_.nic.window_frames;
  return scenario_.lanes * (kProbesMax + in_flight);
}

/// A path that becomes narrow may swallow a few frames before its rank has nothing long to send.
bool PathOracle::must_speak(uint64_t vanished) const noexcept {
  constexpr uint64_t kFewFrames = 16;
  const uint64_t few =
      scenario_.path_narrows_ns == 0 ? 0 : kFewFrames * scenario_.lanes * (scenario_.ranks - 1);
  return vanished > few;
}

void PathOracle::check(const Fabric& fabric, Verdict& verdict) const {
  if (!is_certain(fabric)) return;
  for (Rank rank = 0; rank < scenario_.ranks; ++rank) {
    const Heard& heard = heard_[rank];
    const uint64_t vanished = fabric.oversized_from(rank);
    const bool may_speak = vanished != 0;
    if (heard.count > (may_speak ? 1u : 0u) || (heard.count == 0 && must_speak(vanished))) {
      verdict.fail("rank %u spoke %u times of its paths, on which %lu frames vanished: %s", rank,
                   heard.count, vanished, heard.last.c_str());
    }
    if (heard.count != 0 && heard.last.find("GASNET_DPDK_MTU=1500") == std::string::npos) {
      verdict.fail("rank %u does not say what to do: %s", rank, heard.last.c_str());
    }
    if (vanished > (scenario_.ranks - 1) * vanished_max()) {
      verdict.fail("%lu frames of rank %u were too long for their path", vanished, rank);
    }
  }
}

}  // namespace pinwire::sim

// The dice of one directed link: what happens to each frame that crosses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "tests/sim/scenario.h"

namespace pinwire::sim {

/// One copy of a frame that will arrive.
struct Copy {
  uint64_t delay_ns;
  bool corrupt;
  bool truncate;
  bool detour;
};

struct Fate {
  uint32_t copies;  ///< 0: lost
  Copy copy[2];
};

class LinkDice {
 public:
  /// `asymmetric`: each probability is scaled by a share in [0, 1] of its own.
  LinkDice(const LinkFaults& faults, bool asymmetric, Random& random);
  Fate roll(uint64_t now_ns, Random& random);

 private:
  Copy travel(Random& random) const;

  LinkFaults faults_;
  uint64_t burst_until_ns_ = 0;
};

/// Flips one bit, or a run of up to 15 neighbouring ones: what a 16-bit ones'-complement sum surely
/// sees.
void flip_bits(std::vector<std::byte>& frame, Random& random);
void cut_tail(std::vector<std::byte>& frame, Random& random);

}  // namespace pinwire::sim

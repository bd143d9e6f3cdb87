#include "tests/sim/fabric/faults.h"

#include "tests/sim/fabric/ether.h"

namespace pinwire::sim {
namespace {

double share(Random& random) { return static_cast<double>(random.below(1025)) / 1024; }

}  // namespace

LinkDice::LinkDice(const LinkFaults& faults, bool asymmetric, Random& random) : faults_(faults) {
  if (!asymmetric) return;
  faults_.loss *= share(random);
  faults_.burst *= share(random);
  faults_.duplicate *= share(random);
  faults_.reorder *= share(random);
  faults_.corrupt *= share(random);
  faults_.truncate *= share(random);
  faults_.delay_ns += random.below(faults_.delay_ns + 1);
}

Copy LinkDice::travel(Random& random) const {
  Copy copy{.delay_ns = faults_.delay_ns, .corrupt = false, .truncate = false, .detour = false};
  if (faults_.jitter_ns > 0) copy.delay_ns += random.below(faults_.jitter_ns);
  copy.detour = random.chance(faults_.reorder);
  if (copy.detour) copy.delay_ns += random.below(faults_.detour_ns);
  copy.corrupt = random.chance(faults_.corrupt);
  copy.truncate = random.chance(faults_.truncate);
  return copy;
}

Fate LinkDice::roll(uint64_t now_ns, Random& random) {
  if (now_ns < burst_until_ns_) return {};
  if (random.chance(faults_.burst)) {
    burst_until_ns_ = now_ns + random.below(faults_.burst_ns + 1);
    return {};
  }
  if (random.chance(faults_.loss)) return {};
  Fate fate{.copies = 1, .copy = {travel(random), {}}};
  if (random.chance(faults_.duplicate)) {
    fate.copies = 2;
    fate.copy[1] = travel(random);
    fate.copy[1].delay_ns += random.below(faults_.detour_ns);
  }
  return fate;
}

void flip_bits(std::vector<std::byte>& frame, Random& random) {
  const size_t bits = (frame.size() - kEtherBytes) * 8;
  const size_t first = random.below(bits);
  size_t run = random.chance(0.5) ? 1 : 1 + random.below(15);
  if (run > bits - first) run = bits - first;
  for (size_t bit = first; bit < first + run; ++bit) {
    const bool edge = bit == first || bit + 1 == first + run;
    if (edge || random.chance(0.5)) {
      frame[kEtherBytes + bit / 8] ^= static_cast<std::byte>(0x80u >> bit % 8);
    }
  }
}

void cut_tail(std::vector<std::byte>& frame, Random& random) {
  if (frame.size() > kEtherBytes + 1) {
    frame.resize(kEtherBytes + 1 + random.below(frame.size() - kEtherBytes - 1));
  }
}

}  // namespace pinwire::sim

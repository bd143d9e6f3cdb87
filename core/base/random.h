// xoshiro256** (Blackman, Vigna): seeded, small, for back-off jitter and for tests that replay.
#pragma once

#include <bit>
#include <cstdint>

namespace pinwire {

class Random {
 public:
  explicit constexpr Random(uint64_t seed) noexcept {
    for (auto& word : state_) {  // splitmix64 fills the state, as the authors advise
      seed += 0x9e3779b97f4a7c15u;
      uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      word = mixed ^ (mixed >> 31);
    }
  }
  constexpr uint64_t next() noexcept {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound); bound > 0. The modulo bias is below 2^-32 for bounds under 2^32.
  constexpr uint64_t below(uint64_t bound) noexcept { return next() % bound; }
  /// True with the given probability.
  constexpr bool chance(double probability) noexcept {
    return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
  }

 private:
  uint64_t state_[4] = {};
};

}  // namespace pinwire

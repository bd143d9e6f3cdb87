// The entry points of the fuzzers, with random inputs, where there is no libFuzzer; a slice of it
// for CI.
#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.h"
#include "tests/fuzz/frame_input.h"

namespace pinwire {
namespace {

std::vector<uint8_t> random_input(Random& random, size_t bytes_max) {
  std::vector<uint8_t> input(random.below(bytes_max));
  // Bytes that mean something are small.
  const bool tame = random.chance(0.7);
  for (auto& byte : input) {
    byte = static_cast<uint8_t>(tame && random.chance(0.6) ? random.below(9) : random.next());
  }
  return input;
}

TEST(FuzzReplay, Parsers) {
  Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto input = random_input(random, 300);
    fuzz_parsers(input.data(), input.size());
  }
}

TEST(FuzzReplay, Nic) {
  Random random(2);
  for (int i = 0; i < 400; ++i) {
    const auto input = random_input(random, 6'000);
    fuzz_nic(input.data(), input.size());
  }
}

TEST(FuzzReplay, NicWithFramesOfEveryRecordType) {
  Random random(3);
  for (int i = 0; i < 400; ++i) {
    std::vector<uint8_t> input;
    for (int frame = 0; frame < 40; ++frame) {
      const auto length = static_cast<uint32_t>(64 + random.below(110));
      input.push_back(static_cast<uint8_t>(length));
      input.push_back(0);
      input.push_back(random.below(8) == 0 ? 3 : 1);
      const size_t start = input.size();
      for (uint32_t b = 0; b < length; ++b) {
        input.push_back(static_cast<uint8_t>(random.chance(0.7) ? 0 : random.next()));
      }
      input[start] = static_cast<uint8_t>(random.below(4) == 0);      // kind
      input[start + 1] = static_cast<uint8_t>(random.below(3));       // flow
      input[start + 8] = static_cast<uint8_t>(frame);                 // sequence
      input[start + 28] = static_cast<uint8_t>(random.below(4));      // whether it has a body
      input[start + 54] = static_cast<uint8_t>(1 + random.below(8));  // record type
      input[start + 55] = 0;
      input[start + 56] = static_cast<uint8_t>(random.below(length));  // its payload
      input[start + 57] = 0;
      if (input[start + 54] == 8 && length > 86) {  // a list: its first piece, near the region
        for (size_t b = 80; b < 84; ++b) input[start + b] = 0;
        input[start + 84] = static_cast<uint8_t>(random.below(20));
        input[start + 85] = 0;
      }
    }
    fuzz_nic(input.data(), input.size());
  }
}

}  // namespace
}  // namespace pinwire

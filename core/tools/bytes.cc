// Counting and summing bytes.
#include <cstring>

#include "core/tools/api.h"

namespace {

constexpr uint64_t kLow7 = 0x7f7f7f7f7f7f7f7f;

/// The top bit of each byte of the result is set exactly where the byte of `word` is not 0.
uint64_t nonzero_tops(uint64_t word) noexcept { return (((word & kLow7) + kLow7) | word) & ~kLow7; }

uint64_t word_at(const unsigned char* from) noexcept {
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

int zeros_of(uint64_t word) noexcept { return 8 - __builtin_popcountll(nonzero_tops(word)); }

}  // namespace

extern "C" {

int gasnett_count0s_uint32_t(uint32_t value) { return zeros_of(value) - 4; }
int gasnett_count0s_uint64_t(uint64_t value) { return zeros_of(value); }
int gasnett_count0s_uintptr_t(uintptr_t value) { return zeros_of(value); }

size_t gasnett_count0s(const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  size_t zeros = 0;
  for (; bytes >= 8; bytes -= 8, at += 8) zeros += static_cast<size_t>(zeros_of(word_at(at)));
  for (; bytes > 0; --bytes, ++at) zeros += *at == 0;
  return zeros;
}

size_t gasnett_count0s_copy(void* __restrict__ to, const void* __restrict__ from, size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
  return gasnett_count0s(to, bytes);
}

/// Every byte and its place count: rotate, then mix a word in; the rest of the bytes one by one.
uint64_t gasnett_checksum(const void* data, int bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  uint64_t sum = static_cast<uint64_t>(bytes);
  const auto mix = [&sum](uint64_t word) {
    sum = ((sum << 7) | (sum >> 57)) ^ (word * 0x9e3779b97f4a7c15);
  };
  for (; bytes >= 8; bytes -= 8, at += 8) mix(word_at(at));
  for (; bytes > 0; --bytes, ++at) mix(*at + 1u);
  return sum;
}

}  // extern "C"

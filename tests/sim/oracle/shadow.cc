#include "tests/sim/oracle/shadow.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "tests/sim/client/pattern.h"

namespace pinwire::sim {

Shadow::Shadow(uint32_t ranks, uint64_t bytes_each, Verdict& verdict)
    : verdict_(verdict), bytes_each_(bytes_each), images_(ranks) {
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    images_[rank].resize(bytes_each);
    fill_pattern(images_[rank], ~uint64_t{rank});
  }
}

bool Shadow::busy(Rank target, uint64_t offset, uint64_t bytes) const {
  return std::any_of(puts_.begin(), puts_.end(), [&](const auto& entry) {
    const Put& put = entry.second;
    return put.target == target && put.range.offset < offset + bytes &&
           offset < put.range.offset + put.range.bytes;
  });
}

uint64_t Shadow::begin_put(Rank target, const PutRange& range) {
  check(!busy(target, range.offset, range.bytes), "overlapping puts", target, range.offset);
  const Put& put = puts_[next_] = {target, range};
  for (auto& [number, get] : gets_) blur(get, put);
  return next_++;
}

void Shadow::end_put(uint64_t number) {
  const auto found = puts_.find(number);
  check(found != puts_.end(), "a put ended twice", number);
  const auto& [target, range] = found->second;
  fill_pattern(std::span(images_[target]).subspan(range.offset, range.bytes), range.content);
  puts_.erase(found);
}

void Shadow::check_put(uint64_t number, std::span<const std::byte> memory) const {
  const auto& [target, range] = puts_.at(number);
  const auto written = memory.subspan(range.offset, range.bytes);
  const size_t bad = pattern_mismatch(written, range.content);
  if (bad != written.size()) {
    verdict_.fail("rank %u saw a put's message before byte %zu of its %zu bytes at offset %lu",
                  target, bad, written.size(), range.offset);
  }
}

uint64_t Shadow::begin_get(Rank target, uint64_t offset, uint64_t bytes) {
  Get& get = gets_[next_] = {target, offset, std::vector<bool>(bytes)};
  for (const auto& [number, put] : puts_) blur(get, put);
  return next_++;
}

void Shadow::blur(Get& get, const Put& put) {
  if (put.target != get.target) return;
  const uint64_t from = std::max(put.range.offset, get.offset);
  const uint64_t to =
      std::min(put.range.offset + put.range.bytes, get.offset + get.uncertain.size());
  for (uint64_t at = from; at < to; ++at) get.uncertain[at - get.offset] = true;
}

void Shadow::end_get(uint64_t number, std::span<const std::byte> got) {
  const auto found = gets_.find(number);
  check(found != gets_.end(), "a get ended twice", number);
  const Get& get = found->second;
  const auto wanted = image(get.target).subspan(get.offset, got.size());
  for (size_t at = 0; at < got.size(); ++at) {
    if (got[at] == wanted[at] || get.uncertain[at]) continue;
    verdict_.fail("a get of %zu bytes at offset %lu of rank %u read 0x%02x at byte %zu, not 0x%02x",
                  got.size(), get.offset, get.target, std::to_integer<unsigned>(got[at]), at,
                  std::to_integer<unsigned>(wanted[at]));
    break;
  }
  gets_.erase(found);
}

void Shadow::check_memory(Rank rank, std::span<const std::byte> memory) const {
  const auto& image = images_[rank];
  if (std::memcmp(image.data(), memory.data(), image.size()) == 0) return;
  for (size_t at = 0; at < image.size(); ++at) {
    if (memory[at] == image[at] || busy(rank, at, 1)) continue;
    return verdict_.fail("memory of rank %u differs at offset %zu: 0x%02x, not 0x%02x", rank, at,
                         std::to_integer<unsigned>(memory[at]),
                         std::to_integer<unsigned>(image[at]));
  }
}

}  // namespace pinwire::sim

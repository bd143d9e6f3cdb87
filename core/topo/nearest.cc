#include "core/topo/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/check.h"

namespace pinwire {
namespace {

/// One round of exchanges; each makes the sum of all distances smaller, so they come to an end.
bool improve(const std::vector<DeviceDistances>& ranks, std::vector<uint32_t>& taken) {
  bool any = false;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const DeviceDistances& mine = ranks[rank];
    for (uint32_t wanted = 0; wanted < mine.size(); ++wanted) {
      const auto holder = std::find(taken.begin(), taken.end(), wanted);
      uint64_t before = mine[taken[rank]], after = mine[wanted];
      if (holder != taken.end()) {
        const DeviceDistances& theirs = ranks[static_cast<size_t>(holder - taken.begin())];
        before += theirs[wanted];
        after += theirs[taken[rank]];
      }
      if (after >= before) continue;
      if (holder != taken.end()) *holder = taken[rank];
      taken[rank] = wanted;
      any = true;
    }
  }
  return any;
}

}  // namespace

std::vector<uint32_t> share_devices(const std::vector<DeviceDistances>& ranks) {
  check(!ranks.empty() && !ranks[0].empty(), "no ranks or no devices to share", ranks.size());
  const auto devices = static_cast<uint32_t>(ranks[0].size());
  std::vector<uint32_t> taken;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    check(ranks[rank].size() == devices, "ranks that see different devices", rank, devices);
    taken.push_back(rank % devices);
  }
  if (ranks.size() > devices) return taken;
  while (improve(ranks, taken)) {
  }
  return taken;
}

std::vector<uint32_t> near_share(const DeviceDistances& distances, uint32_t position,
                                 uint32_t sharers) {
  check(!distances.empty() && position < sharers, "no devices or no such rank", position, sharers);
  const uint32_t least = *std::min_element(distances.begin(), distances.end());
  std::vector<uint32_t> near;
  for (uint32_t device = 0; device < distances.size(); ++device) {
    if (distances[device] == least) near.push_back(device);
  }
  const size_t each = near.size() / sharers;
  if (each < 2) return {};
  const auto first = near.begin() + static_cast<ptrdiff_t>(each * position);
  return {first, first + static_cast<ptrdiff_t>(each)};
}

}  // namespace pinwire

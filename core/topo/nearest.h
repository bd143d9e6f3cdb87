// Which of a host's devices each of its ranks takes. Pure: every rank of the host reckons the same.
#pragma once

#include <cstdint>
#include <vector>

namespace pinwire {

/// How far each device is from the CPUs of one rank.
using DeviceDistances = std::vector<uint32_t>;

/// A device of its own for each rank, such that no two ranks are nearer to theirs by an exchange
/// and none by taking a free one; among equals rank r takes the device r. More ranks than devices:
/// by turns, without regard to distance.
std::vector<uint32_t> share_devices(const std::vector<DeviceDistances>& ranks);

/// The devices that one of `sharers` ranks with the same distances takes: its part of the nearest,
/// in their order, where there are at least two for each; else none.
std::vector<uint32_t> near_share(const DeviceDistances& distances, uint32_t position,
                                 uint32_t sharers);

}  // namespace pinwire

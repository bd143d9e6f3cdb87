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

}  // namespace pinwire

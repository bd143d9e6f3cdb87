// Where the packets of a connection start.
#pragma once

#include <cstdint>

#include "driver/driver.h"

namespace pinwire::verbs {

/// The same at both ends, another one for each connection, so that packets of an earlier job, or of
/// an earlier connection of the pair, find no taker.
constexpr uint32_t first_packet_number(uint64_t job_key, Rank from, Rank to, uint64_t epoch,
                                       uint32_t link) noexcept {
  uint64_t mix = job_key ^ (uint64_t{from} << 32 | to) ^ uint64_t { link } << 20;
  mix += epoch * 0xd1b54a32d192ed03u;
  mix *= 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(mix >> 40) & 0xffffff;
}

}  // namespace pinwire::verbs

// The parts of a frame that the simulated hardware knows: Ethernet addresses and the IPv4 and UDP
// checksums of RFC 791 and 768. Written apart from the nicfw's codec, so that each checks the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nicfw/port/port.h"

namespace pinwire::sim {

inline constexpr size_t kEtherBytes = 14;
inline constexpr size_t kEtherBytesMin = 60;  ///< shorter frames are padded on the wire

MacAddress destination_of(std::span<const std::byte> frame);
MacAddress source_of(std::span<const std::byte> frame);

/// True for an IPv4 UDP frame whose lengths lie inside the frame.
bool is_udp(std::span<const std::byte> frame);
/// For a frame for which is_udp() holds.
uint16_t udp_destination_port(std::span<const std::byte> frame);

/// Makes the lengths of IPv4 and UDP say what the frame has.
void write_lengths(std::span<std::byte> frame);
/// The work of a device with checksum offload on transmit; leaves other frames alone.
void write_checksums(std::span<std::byte> frame);
/// The check of such a device on receive; false also for frames that are not IPv4 UDP.
bool checksums_good(std::span<const std::byte> frame);

}  // namespace pinwire::sim

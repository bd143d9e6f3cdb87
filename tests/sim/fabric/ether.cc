#include "tests/sim/fabric/ether.h"

#include <algorithm>

namespace pinwire::sim {
namespace {

constexpr size_t kIp = kEtherBytes;
constexpr size_t kIpBytesMin = 20;
constexpr size_t kUdpBytes = 8;

uint32_t byte_at(std::span<const std::byte> frame, size_t at) {
  return std::to_integer<uint32_t>(frame[at]);
}

uint32_t word_at(std::span<const std::byte> frame, size_t at) {
  return byte_at(frame, at) << 8 | byte_at(frame, at + 1);
}

void put_word(std::span<std::byte> frame, size_t at, uint32_t value) {
  frame[at] = static_cast<std::byte>(value >> 8 & 0xff);
  frame[at + 1] = static_cast<std::byte>(value & 0xff);
}

size_t ip_bytes(std::span<const std::byte> frame) { return (byte_at(frame, kIp) & 15) * 4; }

uint64_t sum(std::span<const std::byte> bytes) {
  uint64_t total = 0;
  for (size_t at = 0; at + 1 < bytes.size(); at += 2) total += word_at(bytes, at);
  if (bytes.size() % 2 == 1) total += byte_at(bytes, bytes.size() - 1) << 8;
  return total;
}

uint32_t fold(uint64_t total) {
  while (total >> 16 != 0) total = (total & 0xffff) + (total >> 16);
  return static_cast<uint32_t>(total);
}

std::span<const std::byte> datagram(std::span<const std::byte> frame) {
  const size_t udp = kIp + ip_bytes(frame);
  return frame.subspan(udp, word_at(frame, udp + 4));
}

/// The sum over datagram and pseudo header; 0xffff when the checksum in it is right.
uint32_t udp_sum(std::span<const std::byte> frame) {
  const auto bytes = datagram(frame);
  return fold(sum(bytes) + sum(frame.subspan(kIp + 12, 8)) + 17 + bytes.size());
}

MacAddress address_at(std::span<const std::byte> frame, size_t at) {
  MacAddress address{};
  for (size_t i = 0; i < address.size(); ++i) {
    address[i] = std::to_integer<uint8_t>(frame[at + i]);
  }
  return address;
}

}  // namespace

MacAddress destination_of(std::span<const std::byte> frame) { return address_at(frame, 0); }
MacAddress source_of(std::span<const std::byte> frame) { return address_at(frame, 6); }

bool is_udp(std::span<const std::byte> frame) {
  if (frame.size() < kIp + kIpBytesMin + kUdpBytes) return false;
  if (word_at(frame, 12) != 0x0800 || byte_at(frame, kIp) >> 4 != 4) return false;
  const size_t header = ip_bytes(frame);
  const size_t total = word_at(frame, kIp + 2);
  if (header < kIpBytesMin || byte_at(frame, kIp + 9) != 17) return false;
  if (total > frame.size() - kIp || total < header + kUdpBytes) return false;
  const size_t udp = word_at(frame, kIp + header + 4);
  return udp >= kUdpBytes && udp <= total - header;
}

uint16_t udp_destination_port(std::span<const std::byte> frame) {
  return static_cast<uint16_t>(word_at(frame, kIp + ip_bytes(frame) + 2));
}

void write_lengths(std::span<std::byte> frame) {
  const auto bytes = static_cast<uint32_t>(frame.size());
  const auto header = static_cast<uint32_t>(ip_bytes(frame));
  put_word(frame, kIp + 2, bytes - static_cast<uint32_t>(kIp));
  put_word(frame, kIp + header + 4, bytes - static_cast<uint32_t>(kIp) - header);
}

void write_checksums(std::span<std::byte> frame) {
  if (!is_udp(frame)) return;
  const size_t header = ip_bytes(frame);
  put_word(frame, kIp + 10, 0);
  put_word(frame, kIp + 10, ~fold(sum(frame.subspan(kIp, header))) & 0xffff);
  put_word(frame, kIp + header + 6, 0);
  const uint32_t checksum = ~udp_sum(frame) & 0xffff;
  put_word(frame, kIp + header + 6, checksum == 0 ? 0xffff : checksum);
}

bool checksums_good(std::span<const std::byte> frame) {
  if (!is_udp(frame)) return false;
  const size_t header = ip_bytes(frame);
  if (fold(sum(frame.subspan(kIp, header))) != 0xffff) return false;
  if (word_at(frame, kIp + header + 6) == 0) return false;  // "no checksum" vouches for nothing
  return udp_sum(frame) == 0xffff;
}

}  // namespace pinwire::sim

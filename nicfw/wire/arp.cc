#include "nicfw/wire/arp.h"

#include <algorithm>
#include <cstring>

#include "nicfw/wire/bytes.h"

namespace pinwire {
namespace {

constexpr uint32_t kMessageBytes = 14 + 28;
constexpr uint16_t kEtherTypeArp = 0x0806;
constexpr uint16_t kQuestion = 1, kAnswer = 2;
// Hardware Ethernet, protocol IPv4, addresses of 6 and 4 bytes.
constexpr uint64_t kEthernetIpv4 = 0x0001'0800'0604;
constexpr uint32_t kOperationAt = 20, kSenderMacAt = 22, kSenderIpAt = 28, kTargetMacAt = 32,
                   kTargetIpAt = 38;

bool is_arp(const std::byte* frame, uint32_t bytes) noexcept {
  return bytes >= kMessageBytes && load_network<uint16_t>(frame + 12) == kEtherTypeArp &&
         load_network<uint64_t>(frame + 14) >> 16 == kEthernetIpv4;
}

void make(std::byte* frame, uint16_t operation, const ArpStation& from,
          const ArpStation& to) noexcept {
  std::memset(frame, 0, kArpFrameBytes);
  std::memcpy(frame, to.mac.data(), to.mac.size());
  std::memcpy(frame + 6, from.mac.data(), from.mac.size());
  store_network<uint16_t>(frame + 12, kEtherTypeArp);
  store_network<uint64_t>(frame + 14, kEthernetIpv4 << 16 | operation);
  std::memcpy(frame + kSenderMacAt, from.mac.data(), from.mac.size());
  store_network<uint32_t>(frame + kSenderIpAt, from.ipv4);
  if (operation == kAnswer) std::memcpy(frame + kTargetMacAt, to.mac.data(), to.mac.size());
  store_network<uint32_t>(frame + kTargetIpAt, to.ipv4);
}

ArpStation sender_of(const std::byte* frame) noexcept {
  ArpStation sender;
  std::memcpy(sender.mac.data(), frame + kSenderMacAt, sender.mac.size());
  sender.ipv4 = load_network<uint32_t>(frame + kSenderIpAt);
  return sender;
}

}  // namespace

void make_arp_question(std::byte* frame, const ArpStation& self, uint32_t wanted_ipv4) noexcept {
  ArpStation everybody{.ipv4 = wanted_ipv4};
  everybody.mac.fill(0xff);
  make(frame, kQuestion, self, everybody);
}

bool make_arp_answer(const std::byte* frame, uint32_t bytes, const ArpStation& self,
                     std::byte* answer) noexcept {
  if (!is_arp(frame, bytes) || load_network<uint16_t>(frame + kOperationAt) != kQuestion ||
      load_network<uint32_t>(frame + kTargetIpAt) != self.ipv4) {
    return false;
  }
  make(answer, kAnswer, self, sender_of(frame));
  return true;
}

bool find_arp_sender(const std::byte* frame, uint32_t bytes, uint32_t wanted_ipv4,
                     MacAddress& mac) noexcept {
  if (!is_arp(frame, bytes)) return false;
  const ArpStation sender = sender_of(frame);
  const bool is_unicast = (sender.mac[0] & 1) == 0 && sender.mac != MacAddress{};
  if (sender.ipv4 != wanted_ipv4 || !is_unicast) return false;
  mac = sender.mac;
  return true;
}

}  // namespace pinwire

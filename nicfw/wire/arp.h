// ARP (RFC 826): routers ask for the MAC address of a rank that has an IP address, and a rank asks
// for its gateway's. Pure; the parsers are total functions over untrusted bytes.
#pragma once

#include "nicfw/port/port.h"

namespace pinwire {

inline constexpr uint32_t kArpFrameBytes = 60;  ///< the shortest that Ethernet carries

struct ArpStation {
  MacAddress mac{};
  uint32_t ipv4 = 0;  ///< host order
};

/// A broadcast that asks for the MAC address of `wanted_ipv4`.
void make_arp_question(std::byte* frame, const ArpStation& self, uint32_t wanted_ipv4) noexcept;

/// True: the frame asks for the MAC address of `self`; `answer` is the frame to send.
bool make_arp_answer(const std::byte* frame, uint32_t bytes, const ArpStation& self,
                     std::byte* answer) noexcept;

/// True: the frame, an answer or a question of its own, tells the MAC address of `wanted_ipv4`.
bool find_arp_sender(const std::byte* frame, uint32_t bytes, uint32_t wanted_ipv4,
                     MacAddress& mac) noexcept;

}  // namespace pinwire

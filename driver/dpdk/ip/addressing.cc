#include "driver/dpdk/ip/addressing.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "nicfw/wire/route.h"

namespace pinwire {
namespace {

std::optional<uint32_t> parse_ipv4(std::string_view text) {
  in_addr address{};
  if (inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

std::optional<MacAddress> parse_mac(const std::string& text) {
  MacAddress mac{};
  int used = 0;
  const int found = std::sscanf(text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0],
                                &mac[1], &mac[2], &mac[3], &mac[4], &mac[5], &used);
  const bool is_whole = found == 6 && static_cast<size_t>(used) == text.size();
  const bool is_unicast = (mac[0] & 1) == 0 && mac != MacAddress{};
  return is_whole && is_unicast ? std::optional(mac) : std::nullopt;
}

/// Does the address name one host of its network?
bool names_host(const PortAddress& address) {
  const uint32_t first = address.ipv4 >> 24;
  const uint32_t host_mask = address.prefix_bits >= 31 ? 0 : ~uint32_t{0} >> address.prefix_bits;
  const uint32_t host = address.ipv4 & host_mask;
  const bool is_edge = host_mask != 0 && (host == 0 || host == host_mask);
  return first != 0 && first != 127 && first < 224 && !is_edge;
}

std::optional<PortAddress> parse_network(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  PortAddress address;
  const auto ipv4 = parse_ipv4(text.substr(0, slash));
  const std::string_view bits = text.substr(slash + 1);
  const auto [end, failed] =
      std::from_chars(bits.data(), bits.data() + bits.size(), address.prefix_bits);
  if (!ipv4 || failed != std::errc{} || end != bits.data() + bits.size()) return std::nullopt;
  address.ipv4 = *ipv4;
  const bool is_good = address.prefix_bits >= 1 && address.prefix_bits <= 32 && names_host(address);
  return is_good ? std::optional(address) : std::nullopt;
}

uint32_t host_order(const sockaddr* address) {
  sockaddr_in internet{};
  std::memcpy(&internet, address, sizeof internet);
  return ntohl(internet.sin_addr.s_addr);
}

Result<PortAddress> interface_address(uint32_t interface_index) {
  char name[IF_NAMESIZE] = "";
  if (interface_index == 0 || if_indextoname(interface_index, name) == nullptr) {
    return error(
        "GASNET_DPDK_ADDRESS=interface, but the kernel has no interface on this port: set "
        "GASNET_DPDK_ADDRESS=address/prefix");
  }
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return error("cannot list the addresses of interfaces");
  PortAddress found;
  for (const ifaddrs* one = all; one != nullptr && found.ipv4 == 0; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if (one->ifa_netmask == nullptr || std::strcmp(one->ifa_name, name) != 0) continue;
    found = {host_order(one->ifa_addr),
             static_cast<uint32_t>(std::popcount(host_order(one->ifa_netmask)))};
  }
  freeifaddrs(all);
  if (found.ipv4 != 0) return found;
  return error(
      "GASNET_DPDK_ADDRESS=interface, but %s has no IPv4 address: give it one, or set "
      "GASNET_DPDK_ADDRESS=address/prefix",
      name);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, comma));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<PortAddress> port_address(std::string_view text, uint32_t rank, uint32_t rank_count,
                                 uint32_t interface_index) {
  if (text.empty()) return PortAddress{};
  if (text == "interface") return interface_address(interface_index);
  const auto parts = split(text);
  if (parts.size() != 1 && parts.size() != rank_count) {
    return error(
        "GASNET_DPDK_ADDRESS names %zu addresses for %u ranks: give one to each, or to each rank "
        "its own value",
        parts.size(), rank_count);
  }
  const std::string_view mine = parts[parts.size() == 1 ? 0 : rank];
  if (const auto address = parse_network(mine)) return *address;
  return error(
      "\"%.*s\" in GASNET_DPDK_ADDRESS is no address of a host in its network: it takes "
      "address/prefix, such as 10.1.0.2/24, or \"interface\"",
      static_cast<int>(mine.size()), mine.data());
}

Result<Gateway> gateway_of(std::string_view text, const PortAddress& self) {
  if (text.empty()) return Gateway{};
  if (self.ipv4 == 0) {
    return error(
        "GASNET_DPDK_GATEWAY is set, but this rank has no address for others to answer to: set "
        "GASNET_DPDK_ADDRESS, too");
  }
  if (const auto mac = parse_mac(std::string(text))) return Gateway{0, *mac};
  const auto ipv4 = parse_ipv4(text);
  if (!ipv4) {
    return error("invalid GASNET_DPDK_GATEWAY=\"%.*s\": expected an IPv4 address or a MAC address",
                 static_cast<int>(text.size()), text.data());
  }
  if (*ipv4 != self.ipv4 && same_network(*ipv4, self.ipv4, self.prefix_bits)) {
    return Gateway{*ipv4, {}};
  }
  return error(
      "GASNET_DPDK_GATEWAY is %s, which is no neighbour of %s/%u: it takes a router in the "
      "network of GASNET_DPDK_ADDRESS",
      ipv4_text(*ipv4).c_str(), ipv4_text(self.ipv4).c_str(), self.prefix_bits);
}

}  // namespace pinwire

#include "driver/verbs/device/gid.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace pinwire::verbs {
namespace {

using Bytes = std::array<uint8_t, 16>;

constexpr uint8_t kIpv4Prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_ipv4(const Bytes& gid) noexcept {
  return std::memcmp(gid.data(), kIpv4Prefix, sizeof kIpv4Prefix) == 0;
}
bool is_link_local(const Bytes& gid) noexcept {
  if (is_ipv4(gid)) return gid[12] == 169 && gid[13] == 254;
  return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

int rating(const GidEntry& entry) noexcept {
  return (is_link_local(entry.bytes) ? 0 : 4) + (entry.kind == GidKind::kRoceV2 ? 2 : 0) +
         (is_ipv4(entry.bytes) ? 1 : 0);
}

std::optional<Bytes> parse_address(const std::string& text) noexcept {
  Bytes bytes{};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  std::memcpy(bytes.data(), kIpv4Prefix, sizeof kIpv4Prefix);
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

std::string address_text(const Bytes& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  if (is_ipv4(gid)) {
    inet_ntop(AF_INET, gid.data() + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, gid.data(), text, sizeof text);
  }
  return text;
}

std::string listing(std::span<const GidEntry> table) {
  std::string text;
  for (const GidEntry& entry : table) text += (text.empty() ? "" : ", ") + describe(entry);
  return text;
}

}  // namespace

std::string describe(const GidEntry& gid) {
  static constexpr const char* kNames[] = {"InfiniBand", "RoCE v1", "RoCE v2"};
  return std::string(kNames[static_cast<int>(gid.kind)]) + " " + address_text(gid.bytes) +
         " (GID " + std::to_string(gid.index) + ")";
}

Result<GidEntry> choose_gid(std::span<const GidEntry> table, std::string_view wanted) {
  if (table.empty())
    return error("the port has no address (GID): give its interface an IP address");
  if (wanted.empty()) {
    return *std::max_element(table.begin(), table.end(), [](const GidEntry& a, const GidEntry& b) {
      return rating(a) < rating(b);
    });
  }
  const std::string text(wanted);
  uint32_t index = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool is_index = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  const auto address = is_index ? std::nullopt : parse_address(text);
  if (!is_index && !address) {
    return error("GASNET_GID=%s is neither an index nor an IP address", text.c_str());
  }
  const GidEntry* best = nullptr;  // one address may be there as v1 and as v2
  for (const GidEntry& entry : table) {
    const bool fits = is_index ? entry.index == index : entry.bytes == *address;
    if (fits && (best == nullptr || rating(*best) < rating(entry))) best = &entry;
  }
  if (best == nullptr) {
    return error("GASNET_GID=%s is not an address of the port, which has %s", text.c_str(),
                 listing(table).c_str());
  }
  return *best;
}

}  // namespace pinwire::verbs

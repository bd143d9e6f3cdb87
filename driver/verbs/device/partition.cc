#include "driver/verbs/device/partition.h"

#include <cstdio>
#include <optional>
#include <string>

namespace pinwire::verbs {
namespace {

constexpr uint32_t kFullMember = 0x8000;

std::string listing(std::span<const uint16_t> table) {
  std::string text;
  for (const uint16_t key : table) {
    char one[16];
    std::snprintf(one, sizeof one, "0x%04x", key);
    if ((key & ~kFullMember) != 0) text += (text.empty() ? "" : ", ") + std::string(one);
  }
  return text;
}

}  // namespace

Result<uint16_t> choose_partition(std::span<const uint16_t> table, uint32_t wanted) {
  if (wanted == 0) return uint16_t{0};
  if ((wanted & ~kFullMember & 0xffff) == 0) {
    return error("GASNET_IBV_PKEY=0x%04x names no partition; the port has %s", wanted,
                 listing(table).c_str());
  }
  std::optional<uint16_t> limited;  // such a member reaches full ones alone
  for (size_t index = 0; index < table.size(); ++index) {
    if (((table[index] ^ wanted) & ~kFullMember & 0xffff) != 0) continue;
    if ((table[index] & kFullMember) != 0) return static_cast<uint16_t>(index);
    if (!limited) limited = static_cast<uint16_t>(index);
  }
  if (limited) return *limited;
  return error("GASNET_IBV_PKEY=0x%04x is no partition key of the port, which has %s", wanted,
               listing(table).c_str());
}

}  // namespace pinwire::verbs

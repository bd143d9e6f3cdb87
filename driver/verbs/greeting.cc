#include "driver/verbs/greeting.h"

#include <cstring>

#include "core/base/hash.h"

namespace pinwire::verbs {
namespace {

constexpr uint32_t kMagic = 0x50570002;

struct Fixed {
  uint32_t magic_and_kind;
  uint32_t from;
  uint32_t to;
  uint32_t lane;
  uint32_t queue_pairs[kLinksPerPeer];
  uint64_t credit_address;
  uint32_t credit_key;
  uint32_t unused;
  uint64_t check;  ///< over all before it, and the key
};
static_assert(sizeof(Fixed) == kGreetingBytes && offsetof(Fixed, check) == kGreetingBytes - 8);

uint64_t check_of(const Fixed& fixed, uint64_t job_key) noexcept {
  const uint64_t inner = hash_more(kHashStart ^ job_key, &fixed, offsetof(Fixed, check));
  return hash_more(inner, &job_key, sizeof job_key);
}

}  // namespace

GreetingBytes encode(const Greeting& greeting, uint64_t job_key) noexcept {
  const Ends& ends = greeting.ends;
  Fixed fixed{kMagic + (static_cast<uint32_t>(greeting.kind) << 8),
              greeting.from,
              greeting.to,
              greeting.lane,
              {ends.queue_pairs[0], ends.queue_pairs[1]},
              ends.credit_address,
              ends.credit_key,
              0,
              0};
  fixed.check = check_of(fixed, job_key);
  GreetingBytes bytes;
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  return bytes;
}

std::optional<Greeting> decode(std::span<const std::byte> bytes, uint64_t job_key) noexcept {
  Fixed fixed;
  if (bytes.size() != sizeof fixed) return std::nullopt;
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  const uint32_t kind = (fixed.magic_and_kind - kMagic) >> 8;
  if (fixed.magic_and_kind - (kind << 8) != kMagic ||
      kind > static_cast<uint32_t>(Greeting::Kind::kReady) ||
      fixed.check != check_of(fixed, job_key)) {
    return std::nullopt;
  }
  return Greeting{
      static_cast<Greeting::Kind>(kind),
      fixed.from,
      fixed.to,
      fixed.lane,
      {{fixed.queue_pairs[0], fixed.queue_pairs[1]}, fixed.credit_address, fixed.credit_key}};
}

}  // namespace pinwire::verbs

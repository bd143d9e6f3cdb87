#include "driver/verbs/connect/greeting.h"

#include <cstring>

#include "core/base/check.h"
#include "core/base/hash.h"

namespace pinwire::verbs {
namespace {

constexpr uint32_t kMagic = 0x50570003;

struct GreetingEnds {
  uint32_t queue_pairs[kLinksPerPeer];
  uint64_t credit_address;
  uint32_t credit_key;
  uint32_t unused;
};
struct GreetingFrame {
  uint32_t magic_and_kind;
  uint32_t from;
  uint32_t to;
  uint32_t lane;
  uint64_t epoch;
  uint64_t body[3];  ///< GreetingEnds, or the round and what was sent and received
  uint64_t check;    ///< over all before it, and the key
};
static_assert(sizeof(GreetingFrame) == kGreetingBytes &&
              offsetof(GreetingFrame, check) == kGreetingBytes - 8);
static_assert(sizeof(GreetingEnds) == sizeof(GreetingFrame::body));
static_assert(static_cast<uint8_t>(Greeting::Kind::kRefuse) ==
              static_cast<uint8_t>(Greeting::Kind::kAsk) +
                  static_cast<uint8_t>(DisconnectMessage::Kind::kRefuse));

uint64_t check_of(const GreetingFrame& fixed, uint64_t job_key) noexcept {
  const uint64_t inner = hash_more(kHashStart ^ job_key, &fixed, offsetof(GreetingFrame, check));
  return hash_more(inner, &job_key, sizeof job_key);
}

}  // namespace

DisconnectMessage disconnect_message(const Greeting& greeting) noexcept {
  check(is_about_closing(greeting.kind), "a greeting that asks to close nothing",
        static_cast<int>(greeting.kind));
  const auto kind =
      static_cast<uint8_t>(greeting.kind) - static_cast<uint8_t>(Greeting::Kind::kAsk);
  return {static_cast<DisconnectMessage::Kind>(kind), greeting.epoch, greeting.round,
          greeting.traffic};
}

void set_disconnect_message(Greeting& greeting, const DisconnectMessage& message) noexcept {
  const auto kind = static_cast<uint8_t>(Greeting::Kind::kAsk) + static_cast<uint8_t>(message.kind);
  greeting.kind = static_cast<Greeting::Kind>(kind);
  greeting.epoch = message.epoch;
  greeting.round = message.round;
  greeting.traffic = message.traffic;
}

GreetingBytes encode(const Greeting& greeting, uint64_t job_key) noexcept {
  GreetingFrame fixed{kMagic + (static_cast<uint32_t>(greeting.kind) << 8),
                      greeting.from,
                      greeting.to,
                      greeting.lane,
                      greeting.epoch,
                      {greeting.round, greeting.traffic.sent, greeting.traffic.received},
                      0};
  if (!is_about_closing(greeting.kind)) {
    const Ends& of = greeting.ends;
    const GreetingEnds ends{
        {of.queue_pairs[0], of.queue_pairs[1]}, of.credit_address, of.credit_key, 0};
    std::memcpy(fixed.body, &ends, sizeof ends);
  }
  fixed.check = check_of(fixed, job_key);
  GreetingBytes bytes;
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  return bytes;
}

std::optional<Greeting> decode(std::span<const std::byte> bytes, uint64_t job_key) noexcept {
  GreetingFrame fixed;
  if (bytes.size() != sizeof fixed) return std::nullopt;
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  const uint32_t kind = (fixed.magic_and_kind - kMagic) >> 8;
  if (fixed.magic_and_kind - (kind << 8) != kMagic ||
      kind > static_cast<uint32_t>(Greeting::Kind::kRefuse) ||
      fixed.check != check_of(fixed, job_key)) {
    return std::nullopt;
  }
  Greeting greeting{
      static_cast<Greeting::Kind>(kind), fixed.from, fixed.to, fixed.lane, {}, fixed.epoch, 0, {}};
  if (is_about_closing(greeting.kind)) {
    greeting.round = fixed.body[0];
    greeting.traffic = {fixed.body[1], fixed.body[2]};
  } else {
    GreetingEnds ends;
    std::memcpy(&ends, fixed.body, sizeof ends);
    greeting.ends = {
        {ends.queue_pairs[0], ends.queue_pairs[1]}, ends.credit_address, ends.credit_key};
  }
  return greeting;
}

}  // namespace pinwire::verbs

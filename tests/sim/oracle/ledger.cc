#include "tests/sim/oracle/ledger.h"

#include <cstring>

#include "core/base/check.h"
#include "tests/sim/client/pattern.h"

namespace pinwire::sim {
namespace {

constexpr uint64_t kMark = 0x5157'0000'0000'0000;  ///< on a message's number, in its header

const char* name_of(MessageClass cls) {
  return cls == MessageClass::kRequest ? "request" : "reply";
}

FenceOrder::Stream stream_of(const Message& message) {
  return {message.from, message.to, message.cls, message.lane};
}

}  // namespace

uint64_t Ledger::enter(const Message& message) {
  messages_.push_back(message);
  return messages_.size() - 1;
}

void Ledger::posted(uint64_t number) {
  check(!messages_[number].posted, "a message was posted twice", number);
  Message& message = messages_[number];
  message.posted = true;
  if (message.plain) message.place = fences_.posted(stream_of(message));
  ++undelivered_;
}

void Ledger::write_head(uint64_t number, std::span<std::byte> head) const {
  const uint64_t mark = number ^ kMark;
  std::memcpy(head.data(), &mark, sizeof mark);
  fill_pattern(head.subspan(sizeof mark), messages_[number].content);
}

uint64_t Ledger::arrived(Rank rank, const Recv& recv) {
  if (recv.data == nullptr || reinterpret_cast<uintptr_t>(recv.data) % 16 != 8) {
    verdict_.fail("rank %u got a message at %p: not 8 modulo 16", rank,
                  static_cast<const void*>(recv.data));
    return Message::kNone;
  }
  uint64_t number = Message::kNone;
  if (recv.bytes >= sizeof number) std::memcpy(&number, recv.data, sizeof number);
  number ^= kMark;
  if (number >= messages_.size() || !messages_[number].posted) {
    verdict_.fail("rank %u got a message of %u bytes from %u that nobody sent", rank, recv.bytes,
                  recv.peer);
    return Message::kNone;
  }
  Message& message = messages_[number];
  if (message.to != rank || message.from != recv.peer || message.cls != recv.cls) {
    verdict_.fail("message %lu (%s, %u -> %u) came to %u as a %s from %u", number,
                  name_of(message.cls), message.from, message.to, rank, name_of(recv.cls),
                  recv.peer);
    return Message::kNone;
  }
  if (++message.deliveries > 1) {
    verdict_.fail("message %lu (%u -> %u) was delivered %u times", number, message.from, message.to,
                  message.deliveries);
    return Message::kNone;
  }
  if (!order_kept(number)) return Message::kNone;
  --undelivered_;
  ++delivered_;
  check_bytes(number, recv);
  return number;
}

bool Ledger::order_kept(uint64_t number) {
  const Message& message = messages_[number];
  if (!message.plain) return true;
  if (fences_.arrived(stream_of(message), message.place, message.fenced)) return true;
  verdict_.fail("message %lu (%u -> %u) is fenced and came before one that was posted earlier",
                number, message.from, message.to);
  return false;
}

void Ledger::check_bytes(uint64_t number, const Recv& recv) {
  const Message& message = messages_[number];
  if (recv.bytes != message.head_bytes + message.bytes) {
    return verdict_.fail("message %lu (%u -> %u) has %u bytes, was sent with %u + %lu", number,
                         message.from, message.to, recv.bytes, message.head_bytes, message.bytes);
  }
  const std::span bytes(recv.data, recv.bytes);
  uint64_t mark;
  std::memcpy(&mark, recv.data, sizeof mark);
  const auto head = bytes.subspan(sizeof mark, message.head_bytes - sizeof mark);
  const size_t bad_head = pattern_mismatch(head, message.content);
  if (mark != (number ^ kMark) || bad_head != head.size()) {
    return verdict_.fail("message %lu (%u -> %u): head differs at byte %zu", number, message.from,
                         message.to, bad_head + sizeof mark);
  }
  const auto payload = bytes.subspan(message.head_bytes);
  const size_t bad = pattern_mismatch(payload, message.content + 1);
  if (bad != payload.size()) {
    verdict_.fail("message %lu (%u -> %u): payload differs at byte %zu of %zu", number,
                  message.from, message.to, bad, payload.size());
  }
}

void Ledger::check_final() {
  for (uint64_t number = 0; number < messages_.size(); ++number) {
    const Message& message = messages_[number];
    if (!message.posted || message.deliveries == 1) continue;
    return verdict_.fail("message %lu (%s, %u -> %u, %lu bytes) was lost", number,
                         name_of(message.cls), message.from, message.to, message.bytes);
  }
}

}  // namespace pinwire::sim

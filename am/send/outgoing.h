// The parts that the sending files share: a message as Work, its way out of a client's call or of a
// handler, and the wait for work that was posted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/message/message.h"
#include "am/message/token.h"
#include "am/poll/poll.h"
#include "am/send/post.h"
#include "am/wait/wait.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "driver/work.h"

namespace pinwire {

/// A Medium to oneself is copied: the handler owns its payload, and may write to it.
inline constexpr size_t kMediumBytesMax = 16384;

inline void* unconst(const void* address) noexcept { return const_cast<void*>(address); }

/// Payload that one message carries over a driver.
inline size_t carried_bytes_max(const Caps& caps) noexcept {
  dcheck(caps.send_bytes_max > kHeadBytesMax, "a driver whose messages carry a head alone",
         caps.send_bytes_max);
  return std::min<size_t>(kMediumBytesMax, (caps.send_bytes_max - kHeadBytesMax) & ~size_t{15});
}

// `token`: of the request whose handler sends; nullptr: a client's call does.

inline MessageClass class_of(const pinwire_token* token) noexcept {
  return token != nullptr ? MessageClass::kReply : MessageClass::kRequest;
}

/// False: not posted, as it was to be done at once or not at all.
[[gnu::always_inline]] inline bool post(const pinwire_token* token, const Route& route,
                                        const Work& work,
                                        Patience patience = Patience::kWaits) noexcept {
  dcheck(route.driver != nullptr, "work for this process itself", work.peer);
  dcheck(work.cls == class_of(token), "the work of a handler is a reply, a client's a request",
         work.peer);
  if (token == nullptr) return post_from_client(route, work, patience);
  if (patience == Patience::kTries) [[unlikely]]
    return engine.offer(route.driver_index, token->lane, work);
  post_in_handler(token->lane, route, work);
  return true;
}

/// Replies are between the endpoints that the request was between.
inline AmEndpoints endpoints_of(const pinwire_token* token, Target to,
                                const AmCall& call) noexcept {
  if (token != nullptr) return {token->source_endpoint, token->endpoint};
  return {static_cast<uint8_t>(endpoint_of(to)), call.from_endpoint};
}

[[gnu::always_inline]] inline Work send_work(const pinwire_token* token, Target to,
                                             const AmHead& head, uint32_t head_bytes) noexcept {
  dcheck(head_bytes >= sizeof(AmHeader), "a message without a header", head_bytes);
  dcheck(head_bytes <= sizeof head, "a head that is longer than its memory", head_bytes);
  Work work{};
  work.op = Op::kSend;
  work.cls = class_of(token);
  work.flags = kWorkCopied | kWorkSilent;
  work.head_bytes = static_cast<uint8_t>(head_bytes);
  work.peer = rank_of(to);
  work.head = &head;
  return work;
}

/// A Medium with a payload that lies at `payload`, lent by the driver if `lent` says so. `route`:
/// to the rank of `to`. False: not posted, as it was to be done at once or not at all.
inline bool post_medium(const pinwire_token* token, const Route& route, Target to,
                        const AmCall& call, const AmEndpoints& endpoints, const void* payload,
                        size_t bytes, const Lent& lent = {}) noexcept {
  dcheck(bytes <= kMediumBytesMax, "a Medium that is too long", bytes);
  dcheck(bytes == 0 || payload != nullptr, "a payload that is nowhere", bytes);
  dcheck(lent.payload == nullptr || lent.payload == payload, "lent memory that is not the payload");
  dcheck(lent.payload == nullptr || bytes <= lent.bytes, "a payload ends after what was lent",
         bytes, lent.bytes);
  AmHead head;
  const uint32_t head_bytes = build_head(head, Category::kMedium, call.handler, call.argc,
                                         call.args, static_cast<uint32_t>(bytes), 0, endpoints);
  Work work = send_work(token, to, head, head_bytes);
  work.local = unconst(payload);
  work.bytes = bytes;
  if (lent.payload != nullptr) {
    work.flags |= kWorkLent;
    work.lent = lent.name;
  }
  return post(token, route, work, call.patience);
}

/// Before a reply is sent.
inline void claim_reply(pinwire_token& token) noexcept {
  check(token.is_request, "a reply handler may not reply (C1-117)");
  check(!token.replied, "a request handler replies at most once (C1-150)");
  token.replied = true;
}
/// A reply that was a no-op is still owed.
inline bool claimed(pinwire_token& token, bool sent) noexcept {
  dcheck(token.replied, "a reply was sent before it was claimed", token.handler);
  token.replied = sent;
  return sent;
}

/// Where a reply goes.
inline Target origin(const pinwire_token& token) noexcept {
  dcheck(token.source < engine.rank_count, "a request from a rank that the job has not",
         token.source);
  return target_of(token.source, token.source_endpoint);
}

/// Waits for completions, in a handler or out of it.
inline void wait_for(const pinwire_token* token, const Route& route, const DoneCount& done,
                     uint32_t count) noexcept {
  const auto finished = [&] {
    const uint32_t now = done.load(std::memory_order_acquire);
    dcheck(now <= count, "more work is done than was posted", now, count);
    return now == count;
  };
  if (token == nullptr) {
    wait_until(finished);
  } else {
    while (!finished()) poll_in_handler(route.driver_index, token->lane);
  }
}

}  // namespace pinwire

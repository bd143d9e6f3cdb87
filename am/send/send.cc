#include "am/send/send.h"

#include <cstring>

#include "am/handlers/dispatch.h"
#include "am/send/outgoing.h"
#include "segment/kinds/device_memory.h"

namespace pinwire {
namespace {

[[gnu::always_inline]] inline bool send_short(const pinwire_token* token, Target to,
                                              const AmCall& call) noexcept {
  dcheck(rank_of(to) < engine.rank_count, "a message to a rank that the job has not", to);
  const Route& route = engine.routes[rank_of(to)];
  const AmEndpoints endpoints = endpoints_of(token, to, call);
  if (route.driver == nullptr) {
    dispatch_loopback(call.handler, endpoints, token == nullptr, Category::kShort, nullptr, 0,
                      call.argc, call.args);
    return true;
  }
  AmHead head;
  const uint32_t head_bytes =
      build_head(head, Category::kShort, call.handler, call.argc, call.args, 0, 0, endpoints);
  return post(token, route, send_work(token, to, head, head_bytes), call.patience);
}

bool send_medium(const pinwire_token* token, Target to, const AmCall& call, const void* source,
                 size_t bytes) noexcept {
  if constexpr (kUsageChecks) check_is_hosts("the payload of a Medium", source, bytes);
  dcheck(rank_of(to) < engine.rank_count, "a message to a rank that the job has not", to);
  const Route& route = engine.routes[rank_of(to)];
  const AmEndpoints endpoints = endpoints_of(token, to, call);
  if (route.driver == nullptr) {
    dcheck(bytes <= kMediumBytesMax, "a Medium to oneself that is too long", bytes);
    alignas(16) std::byte copy[kMediumBytesMax];
    if (bytes != 0) std::memcpy(copy, source, bytes);
    dispatch_loopback(call.handler, endpoints, token == nullptr, Category::kMedium, copy, bytes,
                      call.argc, call.args);
    return true;
  }
  return post_medium(token, route, to, call, endpoints, source, bytes);
}

}  // namespace

bool request_short(Target to, const AmCall& call) noexcept { return send_short(nullptr, to, call); }

bool request_medium(Target to, const AmCall& call, const void* source, size_t bytes) noexcept {
  return send_medium(nullptr, to, call, source, bytes);
}

bool reply_short(pinwire_token& token, const AmCall& call) noexcept {
  claim_reply(token);
  return claimed(token, send_short(&token, origin(token), call));
}

bool reply_medium(pinwire_token& token, const AmCall& call, const void* source,
                  size_t bytes) noexcept {
  claim_reply(token);
  return claimed(token, send_medium(&token, origin(token), call, source, bytes));
}

}  // namespace pinwire

#include "am/handlers/dispatch.h"

#include <utility>

#include "am/handlers/handler_watch.h"
#include "am/handlers/handlers.h"
#include "am/handlers/own_memory.h"
#include "am/message/message.h"
#include "am/wake/sleepers.h"
#include "core/base/log.h"
#include "core/base/no_cancel.h"
#include "core/trace/trace.h"

namespace pinwire {
namespace {

/// Falls back to the first endpoint's handler of this index where the endpoint has none: some
/// clients let further endpoints take messages, but register handlers for the first endpoint only.
[[gnu::cold]] HandlerFunction handler_of_first(uint32_t function, Rank source) noexcept {
  const HandlerFunction handler =
      handler_table[function % kHandlerCount].load(std::memory_order_acquire);
  if (handler != nullptr && function % kHandlerCount >= kClientHandlersFirst) return handler;
  fatal(
      "an active message from rank %u names handler %u, which is not registered for endpoint %u "
      "here; pass it in the table of gasnet_attach or gex_EP_RegisterHandlers on every rank that "
      "receives it (C1-123)",
      source, function % kHandlerCount, function / kHandlerCount);
}

HandlerFunction handler_at(uint32_t function, Rank source) noexcept {
  dcheck(function < kEndpointsMax * kHandlerCount, "the handler of no endpoint", function);
  // acquire pairs with install_client()
  const HandlerFunction handler = handler_table[function].load(std::memory_order_acquire);
  if (handler == nullptr) [[unlikely]]
    return handler_of_first(function, source);
  return handler;
}

/// The bytes were authenticated by the driver; a wrong shape means a peer with another build.
[[noreturn, gnu::cold]] void malformed_message(const Recv& message,
                                               const AmHeader& header) noexcept {
  fatal(
      "an active message from rank %u has an impossible shape (handler %u, endpoint %u, %u "
      "arguments, category %u, %u payload bytes in %u); run the same build on every rank",
      message.peer, header.handler, header.endpoint, header.argc(),
      static_cast<unsigned>(header.category()), header.payload_bytes, message.bytes);
}

bool well_formed(const Recv& message, const AmHeader& header) noexcept {
  if (header.argc() > kAmArgsMax || header.endpoint >= kEndpointsMax) return false;
  const uint64_t head_bytes = am_head_bytes(header.category(), header.argc());
  const uint64_t carried = header.category() == Category::kMedium ? header.payload_bytes : 0;
  return head_bytes + carried <= message.bytes;
}

/// Copies the part of the payload that a carried Long brought in its message, before the handler
/// runs.
void place_rest(const Recv& message, const AmHeader& header, uint64_t address) noexcept {
  const uint32_t head_bytes = am_head_bytes(Category::kCarriedLong, header.argc());
  const uint32_t carried = message.bytes - head_bytes;
  if (carried > header.payload_bytes) malformed_message(message, header);
  place_carried(message.peer, address, header.payload_bytes, message.data + head_bytes, carried);
}

class HandlerScope {
 public:
  HandlerScope(ThreadState& state, uint8_t index, const pinwire_token& token,
               bool must_reply) noexcept
      : state_(state), before_(state.in_handler), watch_(index, token, must_reply) {
    state.in_handler = true;
  }
  ~HandlerScope() {
    dcheck(state_.in_handler, "a handler ends that did not begin");
    state_.in_handler = before_;
  }
  HandlerScope(const HandlerScope&) = delete;

 private:
  ThreadState& state_;
  bool before_;
  [[no_unique_address]] HandlerWatch watch_;
};

/// A LongAsync to oneself.
bool next_must_reply() noexcept {
  if constexpr (kUsageChecks) return std::exchange(client_usage.next_must_reply, false);
  return false;
}

}  // namespace

void dispatch(uint32_t lane, const Recv& message) noexcept {
  dcheck(reinterpret_cast<uintptr_t>(message.data) % 16 == 8, "a message whose body is not aligned",
         message.data);
  AmHeader header;
  if (message.bytes < sizeof header) malformed_message(message, AmHeader{});
  std::memcpy(&header, message.data, sizeof header);
  if (!well_formed(message, header)) malformed_message(message, header);
  const HandlerFunction handler = handler_at(header.function(), message.peer);
  const Category category = header.category();
  const uint32_t argc = header.argc();
  note_event(Event::kHandler, message.peer, header.payload_bytes, header.handler);
  pinwire_token token{message.peer,
                      lane,
                      message.cls == MessageClass::kRequest,
                      false,
                      header.handler,
                      category >= Category::kLong,
                      header.endpoint,
                      header.from_endpoint};
  if constexpr (kUsageChecks) check_shape(token, category, argc);
  const HandlerScope scope(this_thread, header.handler, token,
                           (header.shape & kMarkMustReply) != 0);
  std::byte* body = message.data + sizeof header;
  switch (category) {
    case Category::kShort:
      call_short(handler, &token, argc, reinterpret_cast<const int32_t*>(body));
      break;
    case Category::kMedium: {
      std::byte* payload = message.data + am_head_bytes(Category::kMedium, argc);
      call_payload(handler, &token, payload, header.payload_bytes, argc,
                   reinterpret_cast<const int32_t*>(body));
      break;
    }
    case Category::kLong:
    case Category::kCarriedLong: {
      uint64_t address;
      std::memcpy(&address, body, sizeof address);
      if (category == Category::kCarriedLong) place_rest(message, header, address);
      call_payload(handler, &token, reinterpret_cast<void*>(address), header.payload_bytes, argc,
                   reinterpret_cast<const int32_t*>(body + sizeof address));
      break;
    }
  }
}

void run_as_reply(const pinwire_token& request, uint8_t index, uint8_t endpoint, void* payload,
                  size_t bytes) noexcept {
  dcheck(request.is_request, "the reply to a reply", index);
  dcheck(this_thread.in_handler, "a reply outside of its request's handler", index);
  const HandlerFunction handler = handler_at(function_index(endpoint, index), request.source);
  note_event(Event::kHandler, request.source, bytes, index);
  pinwire_token token{request.source, request.lane, false, false, index, false, endpoint, 0};
  if constexpr (kUsageChecks) check_shape(token, Category::kMedium, 0);
  const HandlerScope scope(this_thread, index, token, false);
  call_payload(handler, &token, payload, bytes, 0, nullptr);
}

void dispatch_loopback(uint8_t index, AmEndpoints endpoints, bool is_request, Category category,
                       void* payload, size_t bytes, uint32_t argc, const int32_t* args) noexcept {
  dcheck(is_request || this_thread.in_handler, "a reply that no handler sends", index);
  dcheck(category != Category::kShort || bytes == 0, "a Short with a payload", index, bytes);
  dcheck(category != Category::kCarriedLong, "a Long to oneself that a message carries", index);
  dcheck(endpoints.from < kEndpointsMax, "a message from no endpoint", endpoints.from);
  const HandlerFunction handler = handler_at(function_index(endpoints.to, index), engine.rank);
  note_event(Event::kHandler, engine.rank, bytes, index);
  pinwire_token token{
      engine.rank,   0, is_request, false, index, category == Category::kLong, endpoints.to,
      endpoints.from};
  if constexpr (kUsageChecks) check_shape(token, category, argc);
  const NoCancelBesideOthers in_handler;
  const HandlerScope scope(this_thread, index, token, next_must_reply());
  if (category == Category::kShort) {
    call_short(handler, &token, argc, args);
  } else {
    call_payload(handler, &token, payload, bytes, argc, args);
  }
  if constexpr (kConcurrent) note_progress();  // in a client thread, beside others
}

}  // namespace pinwire

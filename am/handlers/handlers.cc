#include "am/handlers/handlers.h"

#include <utility>

#include "am/message/message.h"
#include "core/base/check.h"
#include "core/interrupts/client_text.h"

namespace pinwire {
namespace {

template <size_t>
using Arg = int32_t;

template <size_t... I>
void call_short_with(HandlerFunction handler, pinwire_token* token, const int32_t* args,
                     std::index_sequence<I...>) {
  using Typed = void (*)(pinwire_token*, Arg<I>...);
  reinterpret_cast<Typed>(reinterpret_cast<void*>(handler))(token, args[I]...);
}

template <size_t... I>
void call_payload_with(HandlerFunction handler, pinwire_token* token, void* payload, size_t bytes,
                       const int32_t* args, std::index_sequence<I...>) {
  using Typed = void (*)(pinwire_token*, void*, size_t, Arg<I>...);
  reinterpret_cast<Typed>(reinterpret_cast<void*>(handler))(token, payload, bytes, args[I]...);
}

using ShortCall = void (*)(HandlerFunction, pinwire_token*, const int32_t*);
using PayloadCall = void (*)(HandlerFunction, pinwire_token*, void*, size_t, const int32_t*);

template <size_t Argc>
void short_call(HandlerFunction handler, pinwire_token* token, const int32_t* args) {
  call_short_with(handler, token, args, std::make_index_sequence<Argc>());
}
template <size_t Argc>
void payload_call(HandlerFunction handler, pinwire_token* token, void* payload, size_t bytes,
                  const int32_t* args) {
  call_payload_with(handler, token, payload, bytes, args, std::make_index_sequence<Argc>());
}

template <size_t... Argc>
constexpr auto short_calls(std::index_sequence<Argc...>) {
  struct Table {
    ShortCall call[sizeof...(Argc)];
  };
  return Table{{short_call<Argc>...}};
}
template <size_t... Argc>
constexpr auto payload_calls(std::index_sequence<Argc...>) {
  struct Table {
    PayloadCall call[sizeof...(Argc)];
  };
  return Table{{payload_call<Argc>...}};
}

constexpr auto kShortCalls = short_calls(std::make_index_sequence<kAmArgsMax + 1>());
constexpr auto kPayloadCalls = payload_calls(std::make_index_sequence<kAmArgsMax + 1>());

}  // namespace

void register_function(uint8_t index, HandlerFunction function) noexcept {
  check(index < kClientHandlersFirst, "a handler of the library with a client's index", index);
  check(index != kNoHandler, "a handler that a message of zeros names");
  check(handler_table[index] == nullptr, "two handlers of the library with one index", index);
  check(function != nullptr, "a handler of the library without a function", index);
  handler_table[index] = function;
}

Status choose_indices(uint32_t endpoint, HandlerEntry* table, size_t count) {
  check(endpoint < kEndpointsMax, "handlers for no endpoint", endpoint);
  const auto* functions = handler_table + function_index(endpoint, 0);
  bool taken[kHandlerCount];
  for (uint32_t i = 0; i < kHandlerCount; ++i) {
    taken[i] = functions[i].load(std::memory_order_relaxed) != nullptr;
  }
  for (size_t i = 0; i < count; ++i) {
    const uint8_t index = table[i].index;
    if (table[i].function == nullptr) return error("handler %zu of the table is NULL", i);
    if (index == 0) continue;
    if (index < kClientHandlersFirst) {
      return error("handler index %u is reserved; clients use 128 to 255, or 0 for any", index);
    }
    if (taken[index]) return error("handler index %u is registered twice", index);
    taken[index] = true;
  }
  // Free indices are handed out from the top, as clients of GASNet-EX are used to (GX-090).
  uint32_t next = kHandlerCount;
  for (size_t i = 0; i < count; ++i) {
    if (table[i].index != 0) continue;
    do {
      --next;
    } while (next >= kClientHandlersFirst && taken[next]);
    if (next < kClientHandlersFirst) return error("more than 128 handlers are registered");
    table[i].index = static_cast<uint8_t>(next);
  }
  return success();
}

void install_client(uint32_t endpoint, const HandlerEntry* table, size_t count) noexcept {
  check(endpoint < kEndpointsMax, "handlers for no endpoint", endpoint);
  for (size_t i = 0; i < count; ++i) {
    check(table[i].index >= kClientHandlersFirst, "a client's handler without an index of its own",
          table[i].index);
    check(table[i].function != nullptr, "a client's handler without a function", table[i].index);
    add_client_text(reinterpret_cast<const void*>(table[i].function));
    handler_table[function_index(endpoint, table[i].index)].store(table[i].function,
                                                                  std::memory_order_release);
  }
}

Status register_client(uint32_t endpoint, HandlerEntry* table, size_t count) {
  const Status chosen = choose_indices(endpoint, table, count);
  if (chosen) install_client(endpoint, table, count);
  return chosen;
}

void call_short(HandlerFunction handler, pinwire_token* token, uint32_t argc,
                const int32_t* args) noexcept {
  dcheck(handler != nullptr && argc <= kAmArgsMax, "no handler takes these arguments", argc);
  kShortCalls.call[argc](handler, token, args);
}

void call_payload(HandlerFunction handler, pinwire_token* token, void* payload, size_t bytes,
                  uint32_t argc, const int32_t* args) noexcept {
  dcheck(handler != nullptr && argc <= kAmArgsMax, "no handler takes these arguments", argc);
  kPayloadCalls.call[argc](handler, token, payload, bytes, args);
}

}  // namespace pinwire

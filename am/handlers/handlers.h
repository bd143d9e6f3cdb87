// The handler table and the call of a handler with 0…16 arguments (C1-124, C1-301).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/result.h"
#include "core/engine/target.h"

struct pinwire_token;

namespace pinwire {

using HandlerFunction = void (*)();

inline constexpr uint32_t kHandlerCount = 256;
inline constexpr uint32_t kClientHandlersFirst = 128;  // C1-076

/// Indices that the library itself uses.
enum InternalHandler : uint8_t {
  kNoHandler,  ///< what a message of zeros names
  kHandlerMemset,
  kHandlerBarrier,
  kHandlerDone,  ///< am/on_demand/by_message.h, as all below
  kHandlerPut,
  kHandlerGet,
  kHandlerGetData,
  kHandlerPlace,
  kHandlerBucketWanted,  ///< am/on_demand/exchange.h, likewise
  kHandlerBucketGranted,
  kHandlerBucketRefused,
  kHandlerVisit,  ///< am/on_demand/visit.h, likewise
  kHandlerVisitAnswer,
  kHandlerVisitEnd,
  kHandlerBarrierWake,
  kHandlerSegmentQuestion,  ///< extended/segments/remote.h, likewise
  kHandlerSegmentAnswer,
  kHandlerVisComplete,  ///< extended/vis/peer_completion.h
  kHandlerCopy,         ///< extended/vis/remote_copy.h, likewise
  kHandlerCopied,
  kHandlerCollLetter,   ///< extended/coll/messages/mail.h, as all below
  kHandlerCollSignal,
  kHandlerCollOffer,
  kHandlerCollPull,
  kHandlerCollPiece,
  kHandlerCollTaken,
  kHandlerCollEpoch,
  kHandlerCollGrant,  ///< extended/coll/messages/stream.h, as all below
  kHandlerCollStream,
  kHandlerCollThere,
  kHandlerCollFetched,
  kHandlerAtomic,  ///< extended/atomics/atomic.h, as all below
  kHandlerAtomicDone,
  kHandlerAtomicValue,
};
static_assert(kHandlerAtomicValue < kClientHandlersFirst);

/// The index of a handler in the tables below; the library's own handlers are those of endpoint 0
/// only.
constexpr uint32_t function_index(uint32_t endpoint, uint8_t handler) noexcept {
  return endpoint * kHandlerCount + handler;
}
/// Entries are filled while other handlers run: the store(release) of an entry pairs with the
/// load(acquire) before a handler runs, and so covers its shape, which is written before.
inline constinit std::atomic<HandlerFunction> handler_table[kEndpointsMax * kHandlerCount] = {};

/// Which messages a client registered a handler for in GASNet-EX (GX-086); GASNet-1 does not state
/// it.
struct HandlerShape {
  bool is_known = false;
  bool takes_short = false, takes_medium = false, takes_long = false;
  bool takes_requests = false, takes_replies = false;
  uint8_t argc = 0;
};
inline constinit HandlerShape handler_shapes[kEndpointsMax * kHandlerCount] = {};

void register_function(uint8_t index, HandlerFunction function) noexcept;
/// A function of the library, of whatever shape its messages have.
template <typename Function>
void register_internal(InternalHandler index, Function* function) noexcept {
  register_function(index, reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(function)));
}

/// Registers the client's table for an endpoint; entries with index 0 get a free one, the same on
/// every node that passes the same tables (C1-077, GX-088). Nothing is registered unless everything
/// is.
struct HandlerEntry {
  uint8_t index;
  HandlerFunction function;
};
Status register_client(uint32_t endpoint, HandlerEntry* table, size_t count);
/// Its two steps: indices are chosen, and from then on messages run the functions.
Status choose_indices(uint32_t endpoint, HandlerEntry* table, size_t count);
void install_client(uint32_t endpoint, const HandlerEntry* table, size_t count) noexcept;

void call_short(HandlerFunction handler, pinwire_token* token, uint32_t argc,
                const int32_t* args) noexcept;
void call_payload(HandlerFunction handler, pinwire_token* token, void* payload, size_t bytes,
                  uint32_t argc, const int32_t* args) noexcept;

}  // namespace pinwire

// A client may ignore that gasnet_init, gex_Client_Init or gasnet_attach failed. Its next call that
// communicates or waits would wait for ever; such calls end the process with the first failure's
// sentence (ClientCall in extended/checks/usage.h).
#pragma once

#include "core/api_types.h"
#include "core/base/result.h"

namespace pinwire {

/// The sentence of the first failure; nullptr: none. Constant once the client has further threads.
inline constinit const char* start_failure = nullptr;
inline bool start_has_failed() noexcept { return start_failure != nullptr; }

/// Notes why `call` failed. From now on refuse_after_failed_start() ends the process. The first
/// reason is kept. The client has no other thread in the library yet.
void note_failed_start(const char* call, const Status& status);
/// Forgets the failure: the client tries once more, and there is no job yet.
void forget_failed_start() noexcept;

/// Ends the process with the sentence of the failure; returns where no start has failed.
void refuse_after_failed_start(const char* call) noexcept;

/// Gives the client of a gex_Client_Init that failed objects that can be read: inlined calls read a
/// team before they enter the library. A pointer may be null.
void give_objects_of_failed_start(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p) noexcept;

}  // namespace pinwire

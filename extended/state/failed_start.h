// A process whose gasnet_init, gex_Client_Init or gasnet_attach failed, and whose client goes on
// all the same: its next call that communicates or waits would wait for ever. Such calls end the
// process with the first failure's sentence (ClientCall in extended/checks/usage.h).
#pragma once

#include "core/api_types.h"
#include "core/base/result.h"

namespace pinwire {

/// The sentence of the first failure; nullptr: none. Constant once the client has further threads.
inline constinit const char* start_failure = nullptr;
inline bool start_has_failed() noexcept { return start_failure != nullptr; }

/// Why `call` failed: from now on refuse_after_failed_start() ends the process. The first reason is
/// kept. Before the client has other threads in the library.
void note_failed_start(const char* call, const Status& status);
/// The client tries to start once more, after a failure that left no job.
void forget_failed_start() noexcept;

/// Returns where no start has failed.
void refuse_after_failed_start(const char* call) noexcept;

/// What gex_Client_Init gives a client when it fails, so that inlined calls, which read a team
/// before they enter the library, do enter it.
void give_objects_of_failed_start(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p) noexcept;

}  // namespace pinwire

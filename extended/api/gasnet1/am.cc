// gasnet.h, 2.3 and 2.4: the C entry points of active messages and handler-safe locks.
#include "am/interrupts/hsl.h"
#include "am/long/send_long.h"
#include "am/message/call.h"
#include "am/poll/poll.h"
#include "am/send/send.h"
#include "am/wait/wait.h"
#include "core/api_types.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/checks/usage.h"

using namespace pinwire;

namespace {

bool bad_target(gasnet_node_t dest, int argc) noexcept {
  return dest >= engine.target_count || argc < 0 || argc > 16;
}

/// Why a request is refused; a client that ignores the result has the sentence.
[[gnu::cold]] int refusal() noexcept {
  if (engine.target_count != 0) return GASNET_ERR_BAD_ARG;
  log_warning("an active message was requested before gasnet_attach (C1-056)");
  return GASNET_ERR_NOT_INIT;
}

// Debug builds: a lock is used between its initialisation and gasnet_hsl_destroy (C1-190).
// Templates, as in others a gasnet_hsl_t has no such member.

template <typename Hsl>
void check_lives(Hsl* hsl, const char* call) noexcept {
  if constexpr (kUsageChecks) {
    if (hsl->life == PINWIRE_HSL_LIVES) return;
    breach(
        "C1-293",
        "%s of an HSL at %p that is not initialised, or not any more; use GASNET_HSL_INITIALIZER "
        "or gasnet_hsl_init",
        call, static_cast<void*>(hsl));
  }
}
/// Memory that was given back without a gasnet_hsl_destroy may look like a lock that lives.
template <typename Hsl>
void begin_life(Hsl* hsl) noexcept {
  if constexpr (kUsageChecks) {
    if (hsl->life == PINWIRE_HSL_LIVES) {
      if (hsl->word != 0) breach("C1-293", "gasnet_hsl_init of a locked HSL");
      warn_of_breach("C1-293",
                     "gasnet_hsl_init of an HSL at %p that is initialised, and was not destroyed",
                     static_cast<void*>(hsl));
    }
    hsl->life = PINWIRE_HSL_LIVES;
  }
}
template <typename Hsl>
void end_life(Hsl* hsl) noexcept {
  if constexpr (kUsageChecks) {
    if (hsl->word != 0) breach("C1-293", "gasnet_hsl_destroy of a locked HSL");
    hsl->life = 0;
  }
}

[[gnu::cold]] void lock_timed(uint32_t& word) noexcept {
  const TimedEvent timed(Event::kHslLock);
  hsl_lock(word);
}

}  // namespace

extern "C" {

int pinwire_am_request_short(gasnet_node_t dest, gasnet_handler_t handler, int argc,
                             const gasnet_handlerarg_t* args) {
  const ClientCall inside("gasnet_AMRequestShort", handler);
  if (bad_target(dest, argc)) return refusal();
  note_event(Event::kRequestShort, dest, 0, handler);
  request_short(dest, call_of(handler, argc, args));
  return GASNET_OK;
}

int pinwire_am_request_medium(gasnet_node_t dest, gasnet_handler_t handler, void* source,
                              size_t nbytes, int argc, const gasnet_handlerarg_t* args) {
  const ClientCall inside("gasnet_AMRequestMedium", handler);
  if (bad_target(dest, argc) || nbytes > pinwire_max_medium) return refusal();
  note_event(Event::kRequestMedium, dest, nbytes, handler, source);
  request_medium(dest, call_of(handler, argc, args), source, nbytes);
  return GASNET_OK;
}

int pinwire_am_request_long(gasnet_node_t dest, gasnet_handler_t handler, void* source,
                            size_t nbytes, void* dest_addr, int is_async, int argc,
                            const gasnet_handlerarg_t* args) {
  const ClientCall inside(is_async ? "gasnet_AMRequestLongAsync" : "gasnet_AMRequestLong", handler);
  if (bad_target(dest, argc) || nbytes > pinwire_max_long) return refusal();
  if constexpr (kUsageChecks) check_range("gasnet_AMRequestLong", dest, dest_addr, nbytes);
  note_event(Event::kRequestLong, dest, nbytes, handler, source);
  request_long(dest, call_of(handler, argc, args), source, nbytes, dest_addr, is_async != 0);
  return GASNET_OK;
}

int pinwire_am_reply_short(gasnet_token_t token, gasnet_handler_t handler, int argc,
                           const gasnet_handlerarg_t* args) {
  reply_call("gasnet_AMReplyShort", token, handler);
  if (token == nullptr || bad_target(token->source, argc)) return GASNET_ERR_BAD_ARG;
  note_event(Event::kReplyShort, token->source, 0, handler);
  reply_short(*token, call_of(handler, argc, args));
  return GASNET_OK;
}

int pinwire_am_reply_medium(gasnet_token_t token, gasnet_handler_t handler, void* source,
                            size_t nbytes, int argc, const gasnet_handlerarg_t* args) {
  reply_call("gasnet_AMReplyMedium", token, handler);
  if (token == nullptr || bad_target(token->source, argc) || nbytes > pinwire_max_medium) {
    return GASNET_ERR_BAD_ARG;
  }
  note_event(Event::kReplyMedium, token->source, nbytes, handler, source);
  reply_medium(*token, call_of(handler, argc, args), source, nbytes);
  return GASNET_OK;
}

int pinwire_am_reply_long(gasnet_token_t token, gasnet_handler_t handler, void* source,
                          size_t nbytes, void* dest_addr, int argc,
                          const gasnet_handlerarg_t* args) {
  reply_call("gasnet_AMReplyLong", token, handler);
  if (token == nullptr || bad_target(token->source, argc) || nbytes > pinwire_max_long_reply) {
    return GASNET_ERR_BAD_ARG;
  }
  if constexpr (kUsageChecks) check_range("gasnet_AMReplyLong", token->source, dest_addr, nbytes);
  note_event(Event::kReplyLong, token->source, nbytes, handler, source);
  reply_long(*token, call_of(handler, argc, args), source, nbytes, dest_addr);
  return GASNET_OK;
}

int gasnet_AMPoll() {
  const ClientCall inside("gasnet_AMPoll");
  note_event(Event::kPoll);
  poll_for_client();
  return GASNET_OK;
}

void pinwire_wait_turn(uint32_t* turns) {
  const ClientCall inside("GASNET_BLOCKUNTIL");
  if (poll() != 0) {
    *turns = 0;
  } else {
    after_empty_poll(*turns, Wait::kOfClient);
  }
}

int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t* srcindex) {
  if (token == nullptr || srcindex == nullptr) return GASNET_ERR_BAD_ARG;
  *srcindex = token->source;
  return GASNET_OK;
}

int gasnet_set_waitmode(int wait_mode_value) {
  if (wait_mode_value < GASNET_WAIT_SPIN || wait_mode_value > GASNET_WAIT_SPINBLOCK) {
    return GASNET_ERR_BAD_ARG;
  }
  set_wait_mode(static_cast<WaitMode>(wait_mode_value));
  return GASNET_OK;
}

void pinwire_hold_interrupts() { hold_interrupts(); }
void pinwire_resume_interrupts() { resume_interrupts(); }

/// Among the names that configure scripts look for in a conduit.
int gasnetc_AMPoll() { return gasnet_AMPoll(); }

void gasnet_hsl_init(gasnet_hsl_t* hsl) {
  const LibraryCall inside;
  trace_line('O', "hsl_init %p", static_cast<void*>(hsl));
  begin_life(hsl);
  hsl->word = 0;
}
void gasnet_hsl_destroy(gasnet_hsl_t* hsl) {
  const LibraryCall inside;
  trace_line('O', "hsl_destroy %p", static_cast<void*>(hsl));
  check_lives(hsl, "gasnet_hsl_destroy");
  end_life(hsl);
  if (hsl->word != 0) fatal("gasnet_hsl_destroy of a locked HSL (C1-190)");
}
void gasnet_hsl_lock(gasnet_hsl_t* hsl) {
  check_lives(hsl, "gasnet_hsl_lock");
  disable_interrupts(Reason::kLock);
  if (watches_any()) [[unlikely]]
    return lock_timed(hsl->word);
  hsl_lock(hsl->word);
}
int gasnet_hsl_trylock(gasnet_hsl_t* hsl) {
  check_lives(hsl, "gasnet_hsl_trylock");
  disable_interrupts(Reason::kLock);
  note_event(Event::kHslTryLock);
  if (hsl_try_lock(hsl->word)) return GASNET_OK;
  enable_interrupts(Reason::kLock);
  return GASNET_ERR_NOT_READY;
}
void gasnet_hsl_unlock(gasnet_hsl_t* hsl) {
  check_lives(hsl, "gasnet_hsl_unlock");
  note_event(Event::kHslUnlock);
  hsl_unlock(hsl->word);
  enable_interrupts(Reason::kLock);  // C1-205
}

#ifdef GASNET_DEBUG
// No handler runs on this thread between the call and the note of its place.
void pinwire_hold_interrupts_at(const char* file, int line) {
  hold_interrupts();
  note_section_place({file, line});
}
void pinwire_hsl_lock_at(const char* file, int line, gasnet_hsl_t* hsl) {
  gasnet_hsl_lock(hsl);
  note_lock_place({file, line});
}
int pinwire_hsl_trylock_at(const char* file, int line, gasnet_hsl_t* hsl) {
  const int result = gasnet_hsl_trylock(hsl);
  if (result == GASNET_OK) note_lock_place({file, line});
  return result;
}
void pinwire_check_wait(const char* call) { check_client_call(call); }
#endif

}  // extern "C"

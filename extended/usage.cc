#include "extended/usage.h"

#include <pthread.h>

#include "am/handlers.h"
#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/mode.h"
#include "extended/job.h"

namespace pinwire {
namespace {

/// Of PARSYNC and SEQ only the latter knows which thread may call: the one that did first.
void check_thread(const char* call) noexcept {
  if constexpr (kThreadMode == ThreadMode::kSeq) {
    static const pthread_t only = pthread_self();
    if (pthread_equal(only, pthread_self()) == 0) {
      fatal(
          "%s by a second thread, in a program compiled with GASNET_SEQ; use GASNET_PARSYNC or "
          "GASNET_PAR",
          call);
    }
  }
}

void check_attached(const char* call) noexcept {
  if (job() == nullptr || !job()->attached) fatal("%s before gasnet_attach", call);
}

void check_handler_index(const char* call, unsigned handler) noexcept {
  if (handler < kClientHandlersFirst) {
    fatal("%s names handler %u; handlers of clients are 128 to 255", call, handler);
  }
}

/// In a handler and under a lock there is an implicit section already.
bool is_ignored(const char* call) noexcept {
  const bool holds_locks = this_thread.hsls_held != 0 || this_client.handshake.holds_locks();
  if (!this_thread.in_handler && !holds_locks) return false;
  if constexpr (kUsageChecks) {
    log_warning("%s has no effect in a handler or while a handler-safe lock is held", call);
  }
  return true;
}

}  // namespace

void check_client_call(const char* call) noexcept {
  const ThreadState& state = this_thread;
  check_attached(call);
  if (state.in_handler) {
    fatal("%s inside a handler, which may use handler-safe locks and, for a request, reply once",
          call);
  }
  if (state.hsls_held != 0) {
    fatal(
        "%s while this thread holds %u handler-safe lock(s): it may wait for a handler that wants "
        "them",
        call, state.hsls_held);
  }
  if (state.holds_interrupts) {
    fatal("%s between gasnet_hold_interrupts and gasnet_resume_interrupts", call);
  }
  check_thread(call);
}

void check_request(const char* call, unsigned handler) noexcept {
  check_client_call(call);
  check_handler_index(call, handler);
}

void check_reply(const char* call, const pinwire_token* token, unsigned handler) noexcept {
  const ThreadState& state = this_thread;
  if (!state.in_handler) fatal("%s outside a handler", call);
  if (state.hsls_held != 0) {
    fatal("%s while the handler holds %u handler-safe lock(s)", call, state.hsls_held);
  }
  if (token != nullptr && !token->is_request)
    fatal("%s in a reply handler: only requests are replied to", call);
  if (token != nullptr && token->replied)
    fatal("%s for a request that was replied to already", call);
  check_handler_index(call, handler);
}

void check_remote(const char* call, uint32_t node, const void* address, size_t bytes) noexcept {
  check_client_call(call);
  if (node >= engine.rank_count) {
    fatal("%s: node %u does not exist; this job has nodes 0 to %u", call, node,
          engine.rank_count - 1);
  }
  const Route& route = engine.routes[node];
  if (bytes == 0) return;  // addresses may be anything
  if (inside(reinterpret_cast<uint64_t>(address), bytes, route.segment_base, route.segment_bytes))
    return;
  fatal("%s: %zu bytes at %p are not in the segment of node %u, %llu bytes at 0x%llx", call, bytes,
        address, node, static_cast<unsigned long long>(route.segment_bytes),
        static_cast<unsigned long long>(route.segment_base));
}

void hold_interrupts() noexcept {
  ThreadState& state = this_thread;
  if (is_ignored("gasnet_hold_interrupts")) return;
  if (state.holds_interrupts) {
    if constexpr (kUsageChecks) {
      fatal("gasnet_hold_interrupts twice: No-Interrupt Sections do not nest");
    }
    return;
  }
  state.holds_interrupts = true;
  disable_interrupts(Reason::kSection);
}

void resume_interrupts() noexcept {
  ThreadState& state = this_thread;
  if (is_ignored("gasnet_resume_interrupts")) return;
  if (!state.holds_interrupts) {
    if constexpr (kUsageChecks) {
      fatal("gasnet_resume_interrupts without gasnet_hold_interrupts before it");
    }
    return;
  }
  state.holds_interrupts = false;
  enable_interrupts(Reason::kSection);
}

}  // namespace pinwire

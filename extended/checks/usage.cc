#include "extended/checks/usage.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "am/handlers/handler_watch.h"
#include "am/handlers/handlers.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/engine/open_board.h"
#include "extended/rma/ops.h"
#include "extended/state/job.h"

namespace pinwire {
namespace {

/// In SEQ only one thread may call: the one that called first. In PARSYNC any thread may, one at a
/// time.
void check_thread(const char* call) noexcept {
  if constexpr (kThreadMode == ThreadMode::kSeq) {
    static const pthread_t only = pthread_self();
    if (pthread_equal(only, pthread_self()) == 0) {
      breach("C1-299",
             "%s by a second thread, in a program compiled with GASNET_SEQ; use GASNET_PARSYNC or "
             "GASNET_PAR",
             call);
    }
  }
}

void check_attached(const char* call) noexcept {
  if (job() == nullptr || !job()->attached) breach("C1-299", "%s before gasnet_attach", call);
}

void check_handler_index(const char* call, unsigned handler) noexcept {
  if (handler < kClientHandlersFirst) {
    breach("C1-295", "%s names handler %u; handlers of clients are 128 to 255", call, handler);
  }
}

/// Between a Prepare and its Commit or Cancel a thread is bound as a reply handler is.
void check_nothing_prepared(const char* call, bool is_reply) noexcept {
  if (const char* open = client_usage.prepared[is_reply]) {
    breach("GX-119", "%s before the Commit or Cancel of this thread's %s", call, open);
  }
}

PlaceText last_lock_place() noexcept {
  return PlaceText(client_usage.last_lock(this_thread.hsls_held).opened.place);
}

/// In a handler and under a lock there is an implicit section already. Each kind is told once.
bool is_ignored(const char* call, std::atomic<bool>& told_of_handler,
                std::atomic<bool>& told_of_lock) noexcept {
  const bool holds_locks = this_thread.hsls_held != 0 || this_client.handshake.holds_locks();
  if (!this_thread.in_handler && !holds_locks) return false;
  if constexpr (kUsageChecks) {
    const bool in_handler = this_thread.in_handler;
    if (!(in_handler ? told_of_handler : told_of_lock).exchange(true)) {
      if (in_handler) {
        warn_of_breach("C1-290", "%s has no effect inside %s where none is interrupted", call,
                       HandlerText(*client_usage.handler).text());
      } else {
        warn_of_breach("C1-290", "%s has no effect while a handler-safe lock is held, locked at %s",
                       call, last_lock_place().text());
      }
    }
  }
  return true;
}

/// In PARSYNC: the thread that is inside a call, and the name of the call.
std::atomic<pid_t> thread_inside{0};
std::atomic<const char*> call_inside{nullptr};

[[noreturn]] void enters_beside(const char* call, pid_t other_thread) noexcept {
  const char* other = call_inside.load();
  breach("C1-299",
         "%s while thread %d is inside %s, in a program compiled with GASNET_PARSYNC; let one "
         "thread at a time call, or use GASNET_PAR",
         call, other_thread, other != nullptr ? other : "another call");
}

/// For calls that are inlined in the client: the check sees them enter, but not leave.
void check_alone(const char* call) noexcept {
  if constexpr (kThreadMode == ThreadMode::kParsync) {
    const pid_t thread = thread_inside.load();
    if (thread != 0 && thread != gettid()) enters_beside(call, thread);
  }
}

}  // namespace

OnlyEntry::OnlyEntry(const char* call) noexcept {
  pid_t inside = 0;
  is_first_ = thread_inside.compare_exchange_strong(inside, gettid());
  if (is_first_) {
    call_inside.store(call);
  } else if (inside != gettid()) {  // else in a handler, which check_client_call() tells
    enters_beside(call, inside);
  }
}
OnlyEntry::~OnlyEntry() {
  if (!is_first_) return;
  call_inside.store(nullptr);
  thread_inside.store(0);
}

void refuse_target(const char* call, Target target) noexcept {
  refuse_after_failed_start(call);
  fatal("%s with jobrank %u of a job of %u", call, rank_of(target), engine.rank_count);
}

void check_client_call(const char* call) noexcept {
  const ThreadState& state = this_thread;
  refuse_after_failed_start(call);
  check_attached(call);
  if (state.in_handler) {
    breach("C1-291", "%s inside %s which may use handler-safe locks and, for a request, reply once",
           call, HandlerText(*client_usage.handler).text());
  }
  check_nothing_prepared(call, false);
  if (state.hsls_held != 0) {
    breach("C1-291",
           "%s while this thread holds %u handler-safe lock(s), the last locked at %s: it may wait "
           "for a handler that wants them",
           call, state.hsls_held, last_lock_place().text());
  }
  if (state.holds_interrupts) {
    breach("C1-291", "%s in a No-Interrupt Section, opened at %s", call,
           PlaceText(client_usage.section.place).text());
  }
  check_thread(call);
}

void check_request(const char* call, unsigned handler) noexcept {
  check_client_call(call);
  check_handler_index(call, handler);
}

void check_reply(const char* call, const pinwire_token* token, unsigned handler) noexcept {
  const ThreadState& state = this_thread;
  if (!state.in_handler) breach("C1-292", "%s outside a handler", call);
  const RunningHandler& running = *client_usage.handler;
  if (token == nullptr || token != running.token) {
    breach("C1-292", "%s with a token of another run: %s has one of its own", call,
           HandlerText(running).text());
  }
  if (state.hsls_held != 0) {
    breach("C1-289", "%s while %s holds %u handler-safe lock(s), the last locked at %s", call,
           HandlerText(running).text(), state.hsls_held, last_lock_place().text());
  }
  check_nothing_prepared(call, true);
  if (!token->is_request) {
    breach("C1-292", "%s in a reply handler, %s where only requests are replied to", call,
           HandlerText(running).text());
  }
  if (token->replied) {
    breach("C1-292", "%s for a request that was replied to already: %s may do so once", call,
           HandlerText(running).text());
  }
  check_handler_index(call, handler);
}

void check_remote(const char* call, Target node, const void* address, size_t bytes) noexcept {
  check_client_call(call);
  check_alone(call);
  check_range(call, node, address, bytes);
}

void hold_interrupts() noexcept {
  static constinit std::atomic<bool> told_of_handler{false}, told_of_lock{false};
  ThreadState& state = this_thread;
  if (is_ignored("gasnet_hold_interrupts", told_of_handler, told_of_lock)) return;
  if (state.holds_interrupts) {
    if constexpr (kUsageChecks) {
      breach("C1-290",
             "gasnet_hold_interrupts twice: No-Interrupt Sections do not nest, and one was opened "
             "at %s",
             PlaceText(client_usage.section.place).text());
    }
    return;
  }
  state.holds_interrupts = true;
  disable_interrupts(Reason::kSection);
  if constexpr (kUsageChecks) {
    client_usage.section = Opened::now();
    board_seat().section.open(client_usage.section.since_ns);
  }
}

void resume_interrupts() noexcept {
  static constinit std::atomic<bool> told_of_handler{false}, told_of_lock{false};
  ThreadState& state = this_thread;
  if (is_ignored("gasnet_resume_interrupts", told_of_handler, told_of_lock)) return;
  if (!state.holds_interrupts) {
    if constexpr (kUsageChecks) {
      breach("C1-290", "gasnet_resume_interrupts without gasnet_hold_interrupts before it");
    }
    return;
  }
  if constexpr (kUsageChecks) {
    board_seat().section.close();
    warn_if_long("a No-Interrupt Section, opened", client_usage.section);
  }
  state.holds_interrupts = false;
  enable_interrupts(Reason::kSection);
}

void note_section_place(const Place& place) noexcept {
  Opened& section = client_usage.section;  // an ignored call opened none
  if (!this_thread.holds_interrupts || section.place.file != nullptr) return;
  section.place = place;
  board_seat().section.note_place(place);
}

void note_lock_place(const Place& place) noexcept {
  client_usage.locks[this_thread.hsls_held - 1].opened.place = place;
  if (this_thread.hsls_held == 1) board_seat().locks.note_place(place);
}

void warn_of_leaks() noexcept {
  warn_of_what_is_open();
  const ThreadOps& mine = thread_ops();
  const uint32_t handles = mine.explicit_ops.taken() + mine.value_ops.taken();
  if (mine.region != nullptr) {
    warn_of_breach("C1-297", "the job ends in an access region, which began at %s",
                   PlaceText(client_usage.region.place).text());
  } else if (handles != 0) {
    warn_of_breach("C1-297", "the job ends with %u handle(s) of this thread never synchronised",
                   handles);
  }
  if (const char* open = client_usage.prepared[false]) {
    warn_of_breach("GX-119", "the job ends before the Commit or Cancel of this thread's %s", open);
  }
}

}  // namespace pinwire

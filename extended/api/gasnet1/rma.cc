// gasnet.h, 3: the C entry points of the extended API, for what is not inlined.
#include "core/api_types.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/barrier/barrier.h"
#include "extended/checks/usage.h"
#include "extended/rma/explicit.h"
#include "extended/rma/sync.h"
#include "extended/rma/transfer.h"

using namespace pinwire;

namespace {

/// Checks the target: a node in GASNet-1, any endpoint in GASNet-EX.
void check_node(Target target) noexcept {
  if (engine.is_target(target)) [[likely]]
    return;
  if (engine.target_count == 0) {
    refuse_after_failed_start("a put, get or memset");
    fatal("a put, get or memset before gasnet_attach (C1-056)");
  }
  fatal("node %u does not exist; this job has nodes 0 to %u", target, engine.rank_count - 1);
}

SourceUntil until(int is_bulk) noexcept {
  return is_bulk ? SourceUntil::kDone : SourceUntil::kReturn;
}

constexpr const char* kBarrierCalls = "gasnet_barrier";

NamedBarrier& barrier_of_job() noexcept {
  check(job_barrier != nullptr, "a barrier before gasnet_attach (C1-056)");
  return *job_barrier;
}

int barrier_code(BarrierResult result) noexcept {
  switch (result) {
    case BarrierResult::kOk:
      return GASNET_OK;
    case BarrierResult::kMismatch:
      return GASNET_ERR_BARRIER_MISMATCH;
    case BarrierResult::kNotReady:
      return GASNET_ERR_NOT_READY;
  }
  return GASNET_ERR_NOT_READY;
}

}  // namespace

extern "C" {

#ifdef GASNET_DEBUG
void* pinwire_checked_direct(const char* call, gasnet_node_t node, const void* remote,
                             const void* local, size_t nbytes) {
  check_remote(call, node, remote, nbytes);
  return checked_place(call, node, remote, local, nbytes);
}
#endif

void pinwire_put(gasnet_node_t node, void* dest, void* src, size_t nbytes) {
  check_node(node);
  const ClientCall inside("gasnet_put");
  note_event(Event::kPut, rank_of(node), nbytes, 0, src);
  pinwire_op op{};
  start_put(node, dest, src, nbytes, SourceUntil::kDone, op);
  wait_here(op);
}

void pinwire_get(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  check_node(node);
  const ClientCall inside("gasnet_get");
  note_event(Event::kGet, rank_of(node), nbytes);
  pinwire_op op{};
  start_get(node, src, dest, nbytes, op);
  wait_here(op);
}

gasnet_handle_t pinwire_put_nb(gasnet_node_t node, void* dest, void* src, size_t nbytes,
                               int is_bulk) {
  check_node(node);
  const ClientCall inside("gasnet_put_nb");
  note_event(Event::kPutNb, rank_of(node), nbytes, 0, src);
  return start_explicit(
      [=](pinwire_op& op) { start_put(node, dest, src, nbytes, until(is_bulk), op); });
}

gasnet_handle_t pinwire_get_nb(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  check_node(node);
  const ClientCall inside("gasnet_get_nb");
  note_event(Event::kGetNb, rank_of(node), nbytes);
  return start_explicit([=](pinwire_op& op) { start_get(node, src, dest, nbytes, op); });
}

void pinwire_put_nbi(gasnet_node_t node, void* dest, void* src, size_t nbytes, int is_bulk) {
  check_node(node);
  const ClientCall inside("gasnet_put_nbi");
  note_event(Event::kPutNbi, rank_of(node), nbytes, 0, src);
  start_put(node, dest, src, nbytes, until(is_bulk), implicit_puts());
}

void pinwire_get_nbi(void* dest, gasnet_node_t node, void* src, size_t nbytes) {
  check_node(node);
  const ClientCall inside("gasnet_get_nbi");
  note_event(Event::kGetNbi, rank_of(node), nbytes);
  start_get(node, src, dest, nbytes, implicit_gets());
}

void gasnet_memset(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  pinwire_op op{};
  check_node(node);
  const ClientCall inside("gasnet_memset");
  note_event(Event::kMemset, rank_of(node), nbytes);
  if (void* to = pinwire_direct(node, dest, nullptr, nbytes)) {
    memset(to, val, nbytes);
    return;
  }
  start_memset(node, dest, val, nbytes, op);
  wait_here(op);
}

gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  check_node(node);
  const ClientCall inside("gasnet_memset_nb");
  note_event(Event::kMemsetNb, rank_of(node), nbytes);
  if (void* to = pinwire_direct(node, dest, nullptr, nbytes)) {
    memset(to, val, nbytes);
    return GASNET_INVALID_HANDLE;
  }
  return start_explicit([=](pinwire_op& op) { start_memset(node, dest, val, nbytes, op); });
}

void gasnet_memset_nbi(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  check_node(node);
  const ClientCall inside("gasnet_memset_nbi");
  note_event(Event::kMemsetNbi, rank_of(node), nbytes);
  if (void* to = pinwire_direct(node, dest, nullptr, nbytes)) {
    memset(to, val, nbytes);
    return;
  }
  start_memset(node, dest, val, nbytes, implicit_puts());
}

void pinwire_wait_handle(gasnet_handle_t handle) {
  const ClientCall inside("gasnet_wait_syncnb");
  const TimedEvent timed(Event::kSyncWait);
  wait_op(handle);
}
int pinwire_try_handle(gasnet_handle_t handle) {
  const ClientCall inside("gasnet_try_syncnb");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(try_op(handle));
}
void gasnet_wait_syncnb_all(gasnet_handle_t* handles, size_t count) {
  const ClientCall inside("gasnet_wait_syncnb_all");
  const TimedEvent timed(Event::kSyncWait);
  wait_all(handles, count);
}
int gasnet_try_syncnb_all(gasnet_handle_t* handles, size_t count) {
  const ClientCall inside("gasnet_try_syncnb_all");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(try_all(handles, count));
}
void gasnet_wait_syncnb_some(gasnet_handle_t* handles, size_t count) {
  const ClientCall inside("gasnet_wait_syncnb_some");
  const TimedEvent timed(Event::kSyncWait);
  wait_some(handles, count);
}
int gasnet_try_syncnb_some(gasnet_handle_t* handles, size_t count) {
  const ClientCall inside("gasnet_try_syncnb_some");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(try_some(handles, count));
}

void gasnet_wait_syncnbi_gets() {
  const ClientCall inside("gasnet_wait_syncnbi_gets");
  const TimedEvent timed(Event::kSyncWait);
  wait_implicit(kGets);
}
void gasnet_wait_syncnbi_puts() {
  const ClientCall inside("gasnet_wait_syncnbi_puts");
  const TimedEvent timed(Event::kSyncWait);
  wait_implicit(kPuts);
}
void gasnet_wait_syncnbi_all() {
  const ClientCall inside("gasnet_wait_syncnbi_all");
  const TimedEvent timed(Event::kSyncWait);
  wait_implicit(kPuts | kGets);
}
int gasnet_try_syncnbi_gets() {
  const ClientCall inside("gasnet_try_syncnbi_gets");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(try_implicit(kGets));
}
int gasnet_try_syncnbi_puts() {
  const ClientCall inside("gasnet_try_syncnbi_puts");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(try_implicit(kPuts));
}
int gasnet_try_syncnbi_all() {
  const ClientCall inside("gasnet_try_syncnbi_all");
  const TimedEvent timed(Event::kSyncTry);
  return ready_code(try_implicit(kPuts | kGets));
}

void gasnet_begin_nbi_accessregion() {
  const ClientCall inside("gasnet_begin_nbi_accessregion");
  begin_region();
}
#ifdef GASNET_DEBUG
void pinwire_begin_nbi_accessregion_at(const char* file, int line) {
  gasnet_begin_nbi_accessregion();
  note_region_place({file, line});
}
#endif
gasnet_handle_t gasnet_end_nbi_accessregion() {
  const ClientCall inside("gasnet_end_nbi_accessregion");
  return end_region();
}

gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void* src, size_t nbytes) {
  check_node(node);
  const ClientCall inside("gasnet_get_nb_val");
  note_event(Event::kGetNb, rank_of(node), nbytes);
  pinwire_value_op* op = thread_ops().value_ops.take();
  check(op != nullptr, "66,000 value gets are in flight; synchronise some");
  op->op.done.store(0, std::memory_order_relaxed);
  op->op.started = 0;
  op->value = 0;
  void* low = pinwire_low_bytes(&op->value, nbytes);
  if (const void* from = pinwire_direct(node, src, low, nbytes)) {
    memcpy(low, from, nbytes);
  } else {
    start_get(node, src, low, nbytes, op->op);
  }
  return op;
}

gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle) {
  const ClientCall inside("gasnet_wait_syncnb_valget");
  const TimedEvent timed(Event::kSyncWait);
  check_value_handle(handle);
  wait_here(handle->op);
  const gasnet_register_value_t value = handle->value;
  free_value_op(handle);
  return value;
}

void gasnet_barrier_notify(int id, int flags) {
  const ClientCall inside("gasnet_barrier_notify");
  const TimedEvent timed(Event::kBarrierNotify, static_cast<uint32_t>(id));
  barrier_of_job().notify(kBarrierCalls, id, flags);
}
int gasnet_barrier_wait(int id, int flags) {
  const ClientCall inside("gasnet_barrier_wait");
  const TimedEvent timed(Event::kBarrierWait, static_cast<uint32_t>(id));
  return barrier_code(barrier_of_job().wait(kBarrierCalls, id, flags));
}
int gasnet_barrier_try(int id, int flags) {
  const ClientCall inside("gasnet_barrier_try");
  const TimedEvent timed(Event::kBarrierTry, static_cast<uint32_t>(id));
  return barrier_code(barrier_of_job().try_once(kBarrierCalls, id, flags));
}
int gasnet_barrier(int id, int flags) {
  const ClientCall inside("gasnet_barrier");
  {
    const TimedEvent timed(Event::kBarrierNotify, static_cast<uint32_t>(id));
    barrier_of_job().notify(kBarrierCalls, id, flags);
  }
  const TimedEvent timed(Event::kBarrierWait, static_cast<uint32_t>(id));
  return barrier_code(barrier_of_job().wait(kBarrierCalls, id, flags));
}
int gasnet_barrier_result(int* id) {
  check(id != nullptr, "gasnet_barrier_result writes a name: its pointer is not NULL");
  return job_barrier != nullptr && job_barrier->name(*id) ? GASNET_OK : 1;
}

}  // extern "C"

// Synchronisation of explicit handles, the implicit set and access regions (3.3.3, 3.3.5, 3.3.6),
// over whatever handle types the APIs show; of GASNet-EX's events (GX-030 to GX-040).
//
// A leaf event names its root's Op: the address, the lowest bit set, and sixteen bits of the Op's
// life on top, which no address of a process uses. Once the root is synchronised the Op's life is
// another, so that a leaf beside it in an array, or later, is complete (GX-035).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/api_types.h"
#include "core/base/breach.h"
#include "core/base/check.h"
#include "extended/rma/ops.h"

namespace pinwire {

/// A fresh explicit operation; nullptr when 66,000 are in flight: the caller then completes at
/// once.
pinwire_op* take_op() noexcept;
/// Makes the handle of what was started: nullptr, and the Op freed, when nothing is in flight.
pinwire_op* handle_of(pinwire_op* op) noexcept;

void wait_op(pinwire_op* op) noexcept;
/// Polls once; frees a finished one.
bool try_op(pinwire_op* op) noexcept;
/// Does not poll.
bool test_op(pinwire_op* op) noexcept;
/// The code of a call that tests whether operations are done.
inline int ready_code(bool done) noexcept { return done ? GASNET_OK : GASNET_ERR_NOT_READY; }

/// The leaf event of a root that is not synchronised; it is complete when the root is.
pinwire_op* leaf_of(pinwire_op* root) noexcept;

/// GASNet-EX: any thread synchronises an event.
inline constinit bool events_move = false;

/// `started` of a handle that was synchronised, in debug builds.
inline constexpr uint32_t kFreed = ~0u;
/// In debug builds a handle is synchronised once, by the thread that got it.
[[gnu::cold]] void check_once_and_here(bool is_mine, const pinwire_op& op) noexcept;

inline void check_value_handle(const pinwire_value_op* op) noexcept {
  if constexpr (kUsageChecks) check_once_and_here(thread_ops().value_ops.owns(op), op->op);
}
inline void free_value_op(pinwire_value_op* op) noexcept {
  if constexpr (kUsageChecks) op->op.started = kFreed;
  thread_ops().value_ops.give(op);
}

/// All forms overwrite finished entries with nullptr. Each polls at least once while unfinished.
void wait_all(pinwire_op** ops, size_t count) noexcept;
bool try_all(pinwire_op** ops, size_t count) noexcept;
void wait_some(pinwire_op** ops, size_t count) noexcept;
bool try_some(pinwire_op** ops, size_t count) noexcept;
/// These poll never.
bool test_all(pinwire_op** ops, size_t count) noexcept;
bool test_some(pinwire_op** ops, size_t count) noexcept;

/// kLocals: of kPuts, those whose local completion was asked for and comes with them (GX-036);
/// kAms: the local completion of active messages; kRmws: atomics but GET and SET (GX-159).
enum ImplicitSet : unsigned { kPuts = 1, kGets = 2, kLocals = 4, kAms = 8, kRmws = 16 };
void wait_implicit(unsigned sets) noexcept;
bool try_implicit(unsigned sets) noexcept;
bool test_implicit(unsigned sets) noexcept;

/// The Op that an implicit put, get or atomic counts on: the open access region's, or the thread's.
pinwire_op& implicit_puts() noexcept;
pinwire_op& implicit_gets() noexcept;
pinwire_op& implicit_locals() noexcept;
pinwire_op& implicit_ams() noexcept;
pinwire_op& implicit_rmws() noexcept;
void begin_region() noexcept;
/// Debug builds: where the client began the one that is open.
void note_region_place(const Place& place) noexcept;
pinwire_op* end_region() noexcept;

/// The implicit operations that the calling thread starts between the two belong to one explicit
/// handle, also inside an access region, which begin_group() returns and end_group() opens again.
/// The caller synchronises nothing implicit in between.
pinwire_op* begin_group() noexcept;
pinwire_op* end_group(pinwire_op* outer) noexcept;

}  // namespace pinwire

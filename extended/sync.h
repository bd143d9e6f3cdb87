// Synchronisation of explicit handles, the implicit set and access regions (3.3.3, 3.3.5, 3.3.6),
// over whatever handle types the APIs show.
#pragma once

#include <cstddef>

#include "extended/ops.h"

namespace pinwire {

/// A fresh explicit operation; nullptr when 66,000 are in flight: the caller then completes at
/// once.
pinwire_op* take_op() noexcept;
/// Makes the handle of what was started: nullptr, and the Op freed, when nothing is in flight.
pinwire_op* handle_of(pinwire_op* op) noexcept;

void wait_op(pinwire_op* op) noexcept;
/// Polls once; frees a finished one.
bool try_op(pinwire_op* op) noexcept;

/// All forms overwrite finished entries with nullptr. Each polls at least once while unfinished.
void wait_all(pinwire_op** ops, size_t count) noexcept;
bool try_all(pinwire_op** ops, size_t count) noexcept;
void wait_some(pinwire_op** ops, size_t count) noexcept;
bool try_some(pinwire_op** ops, size_t count) noexcept;

enum ImplicitSet : unsigned { kPuts = 1, kGets = 2 };
void wait_implicit(unsigned sets) noexcept;
bool try_implicit(unsigned sets) noexcept;

/// The Op that an implicit put or get counts on: the open access region's, or the thread's.
pinwire_op& implicit_puts() noexcept;
pinwire_op& implicit_gets() noexcept;
void begin_region() noexcept;
pinwire_op* end_region() noexcept;

}  // namespace pinwire

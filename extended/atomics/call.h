// An operation of an atomic domain (GX-150): what it is, what it does to memory, what a driver is
// asked for in its place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/api_types.h"
#include "driver/work.h"

namespace pinwire {

/// Operands as bits, in the low-order bytes.
struct AtomicCall {
  gex_DT_t type;
  gex_OP_t code;
  uint64_t a, b;
};

size_t atomic_bytes(gex_DT_t type) noexcept;
/// The operations that the type has; none of what is no type.
gex_OP_t atomic_codes(gex_DT_t type) noexcept;
/// Whether it returns the old value.
bool atomic_fetches(gex_OP_t code) noexcept;

/// Applies the operation with this CPU, by the code that the headers inline; returns the old
/// value's bits. Lock-free.
uint64_t apply(const AtomicCall& call, void* at) noexcept;

/// Operations of 64 bits that drivers know, too; of any other: false.
bool as_driver_atomic(const AtomicCall& call, AtomicOperands& operands) noexcept;
/// Whether a driver that knows `known`, an atomic_bit() for each, does all of these.
bool are_driver_atomics(gex_DT_t type, gex_OP_t codes, uint32_t known) noexcept;

}  // namespace pinwire

// The split-phase barrier (3.5), named and anonymous.
//
// Inside one host every rank writes its value and phase to a line that the others read: one
// cache-line transfer. Otherwise extended/led_barrier.h.
#pragma once

#include <cstdint>

namespace pinwire {

/// What the ranks say about a phase, merged: anonymous matches everything, a mismatch wins
/// (C1-268).
struct BarrierValue {
  enum Kind : uint32_t { kAnonymous = 0, kNamed = 1, kMismatch = 2 };
  Kind kind;
  int32_t id;

  static BarrierValue of(int id, int flags) noexcept;
  static BarrierValue merge(BarrierValue a, BarrierValue b) noexcept;
  uint64_t packed() const noexcept { return uint64_t{kind} << 32 | static_cast<uint32_t>(id); }
  static BarrierValue unpack(uint64_t packed) noexcept {
    return {static_cast<Kind>(packed >> 32), static_cast<int32_t>(packed)};
  }
};

/// What a call passed.
struct BarrierArguments {
  int id;
  int flags;
};
/// GASNet-1 compares a wait with its notify, flags and all (C1-268).
bool repeats_notify(BarrierArguments notify, BarrierArguments wait) noexcept;
/// Clients of GASNet-EX expect the rule of GASNet 1.20: flags may differ, and a name must be the
/// one that all agreed on.
bool names_what_is_agreed(BarrierArguments notify, BarrierArguments wait,
                          BarrierValue agreed) noexcept;
inline constinit bool barriers_of_ex = false;  ///< which rule

enum class BarrierResult : uint8_t { kOk, kMismatch, kNotReady };

/// After open_barrier_lines().
void open_barrier();

/// One thread at a time (C1-263). Misuse is fatal (C1-265, C1-267).
void barrier_notify(int id, int flags) noexcept;
BarrierResult barrier_wait(int id, int flags) noexcept;
BarrierResult barrier_try(int id, int flags) noexcept;
/// The name that the last barrier agreed on; false: it was anonymous.
bool barrier_name(int& id) noexcept;

}  // namespace pinwire

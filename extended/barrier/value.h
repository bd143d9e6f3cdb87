// The values that ranks pass to a named barrier (3.5), and the value that they merge to.
#pragma once

#include <cstdint>

namespace pinwire {

/// The merged values of the ranks in a phase: anonymous matches everything, a mismatch wins
/// (C1-268).
struct BarrierValue {
  enum Kind : uint32_t { kAnonymous = 0, kNamed = 1, kMismatch = 2 };
  Kind kind;
  int32_t id;

  static BarrierValue of(int id, int flags) noexcept;
  static BarrierValue merge(BarrierValue a, BarrierValue b) noexcept;
  constexpr uint64_t packed() const noexcept {
    return uint64_t{kind} << 32 | static_cast<uint32_t>(id);
  }
  static BarrierValue unpack(uint64_t packed) noexcept {
    return {static_cast<Kind>(packed >> 32), static_cast<int32_t>(packed)};
  }
  /// merge() of packed values, most of which are alike.
  static uint64_t merge_packed(uint64_t a, uint64_t b) noexcept {
    return a == b ? a : merge(unpack(a), unpack(b)).packed();
  }
};

/// The arguments of a call.
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

}  // namespace pinwire

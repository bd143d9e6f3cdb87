// The split-phase barrier of a team, named and anonymous: GASNet-1's (3.5) is that of the job's
// team, GASNet's prototype collectives have it over any team. extended/barrier/team_barrier.h
// carries it.
#pragma once

#include <cstdint>

#include "extended/barrier/team_barrier.h"
#include "extended/barrier/value.h"

namespace pinwire {

inline constinit bool barriers_of_ex = false;  ///< which rule

enum class BarrierResult : uint8_t { kOk, kMismatch, kNotReady };

/// One thread at a time (C1-263). Misuse is fatal (C1-265, C1-267), by a sentence about `calls`.
class NamedBarrier {
 public:
  TeamBarrier of_team;

  void notify(const char* calls, int id, int flags) noexcept;
  BarrierResult wait(const char* calls, int id, int flags) noexcept;
  BarrierResult try_once(const char* calls, int id, int flags) noexcept;
  /// The name that the last one agreed on; false: it was anonymous.
  bool name(int& id) const noexcept;
  /// Between a notify and the wait for it.
  bool is_notified() const noexcept { return is_notified_; }
  /// For another team.
  void forget() noexcept { is_notified_ = false; }

 private:
  void check_notified(const char* calls, const char* call) const noexcept;
  BarrierResult finish(int id, int flags) noexcept;

  bool is_notified_ = false;
  BarrierArguments said_{};  ///< by notify
};

/// That of the job's team, from the attach on. nullptr: there is none yet (C1-056).
inline constinit NamedBarrier* job_barrier = nullptr;

}  // namespace pinwire

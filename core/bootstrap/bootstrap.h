// How a process learns which rank it is, and trades a few bytes with the others before any driver is
// up. Three ways: Pinwire's own launcher, PMIx (mpirun, srun), alone.
//
// Control plane; called by the thread that initialises the job, but for end_job and its kin, which
// any thread, and a signal handler, may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "driver/work.h"

namespace pinwire {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual const char* name() const noexcept = 0;  ///< "launcher", "pmix", "singleton"
  virtual Rank rank() const noexcept = 0;
  virtual Rank rank_count() const noexcept = 0;
  /// Random bits, the same on every rank of this job and no other.
  virtual uint64_t job_key() const noexcept = 0;

  /// Every rank contributes any number of bytes; every rank gets all contributions in rank order. A
  /// barrier.
  virtual Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) = 0;
  virtual Status barrier() = 0;

  /// The environment that spawned the job (C1-115), or nullptr. Owned by the bootstrap.
  virtual const char* job_environment(const char* name) const noexcept = 0;

  enum class AfterIt : uint8_t {
    kNothing,      ///< the process ends
    kExitHandlers  ///< the client's may run, and use what else is in the process
  };

  /// Tells the launcher that this rank leaves with `code`: the job ends with it. The first call of
  /// a rank counts. The others get SIGQUIT (C1-103) unless they also leave within the exit timeout,
  /// and are killed after a grace period. Async-signal-safe.
  virtual void leaving(int code, AfterIt after) noexcept = 0;

  /// The last call before the process ends, after leaving(): waits, within the exit timeout, until it
  /// may. (Under PMIx a rank that ends before its farewell counts as crashed.) Async-signal-safe.
  virtual void before_end() noexcept {}
};

/// Chooses by environment: the launcher's variables, PMIx's, else singleton. A sentence if the chosen
/// one cannot be reached.
Result<std::unique_ptr<Bootstrap>> make_bootstrap();

}  // namespace pinwire

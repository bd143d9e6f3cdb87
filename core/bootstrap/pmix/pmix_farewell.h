// Leaving a PMIx job. A rank must not end before PMIx_Finalize, or its launcher takes it for
// crashed; and none of PMIx's functions may be called from a signal handler, where gasnet_exit may
// be. A thread therefore waits for the word, and speaks to PMIx.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "core/bootstrap/pmix/pmix_library.h"

namespace pinwire::bootstrap {

class PmixFarewell {
 public:
  PmixFarewell(const PmixLibrary& library, int timeout_ms);
  ~PmixFarewell();
  PmixFarewell(const PmixFarewell&) = delete;
  PmixFarewell& operator=(const PmixFarewell&) = delete;

  /// Begins: waits in the background until all ranks leave too, then finalizes; after the timeout
  /// aborts the job with `code`. Finalizes for every user of PMIx in the process if it `ends_all`.
  /// Async-signal-safe. Only the first call does anything.
  void say(int code, bool ends_all) noexcept;
  /// After say(): returns when that is done. Async-signal-safe.
  void wait() noexcept;

 private:
  void work();
  bool all_leave();
  void finalize() const;

  const PmixLibrary library_;
  const int timeout_ms_;
  const int owner_;        // a child that the client forks is not this rank
  int word_fd_, done_fd_;  // eventfds
  std::atomic<bool> said_{false};
  std::atomic<bool> quiet_end_{false};
  std::atomic<bool> ends_all_{false};
  std::atomic<int> code_{0};
  std::thread thread_;
};

}  // namespace pinwire::bootstrap

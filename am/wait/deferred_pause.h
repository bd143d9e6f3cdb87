// Keeps what was deferred from running.
#pragma once

#include "am/poll/deferred.h"

namespace pinwire {

/// Client context, not inside a run: no thread is at what was deferred while one of these lives. A
/// thread that listed a work may run it at any later time, also when nothing is left to do for it,
/// so what a run reads is changed under one of these.
class DeferredPause {
 public:
  /// Polls until the thread that is at it has ended its turn.
  DeferredPause() noexcept;
  ~DeferredPause();
  DeferredPause(const DeferredPause&) = delete;
  DeferredPause& operator=(const DeferredPause&) = delete;
};

}  // namespace pinwire

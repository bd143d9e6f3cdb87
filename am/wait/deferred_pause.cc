#include "am/wait/deferred_pause.h"

#include "am/wait/wait.h"

namespace pinwire {

DeferredPause::DeferredPause() noexcept {
  wait_until([] { return deferred_list.begin(); });
}
DeferredPause::~DeferredPause() {
  if constexpr (kChecks) dcheck(deferred_list.is_running(), "a pause has ended before its end");
  deferred_list.end();
}

}  // namespace pinwire

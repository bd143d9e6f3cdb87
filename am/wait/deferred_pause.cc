#include "am/wait/deferred_pause.h"

#include "am/wait/wait.h"

namespace pinwire {

DeferredPause::DeferredPause() noexcept {
  wait_until([] { return deferred_list.begin(); });
}
DeferredPause::~DeferredPause() { deferred_list.end(); }

}  // namespace pinwire

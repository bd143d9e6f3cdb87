#include <infiniband/verbs.h>

#include "driver/rdma/providers.h"

namespace pinwire {

// RDMA_STATIC_PROVIDERS, the build's list, makes the names that verbs.h declares.
void register_rdma_providers() noexcept {
  static const bool is_done = [] {
    ibv_static_providers(nullptr, _RDMA_STATIC_PREFIX(RDMA_STATIC_PROVIDERS), nullptr);
    return true;
  }();
  static_cast<void>(is_done);
}

}  // namespace pinwire

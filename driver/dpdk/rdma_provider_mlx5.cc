#include <infiniband/verbs.h>

#include "driver/dpdk/rdma_provider.h"

namespace pinwire {

void register_rdma_provider() noexcept {
  ibv_static_providers(nullptr, &verbs_provider_mlx5, nullptr);
}

}  // namespace pinwire

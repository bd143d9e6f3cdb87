#include "driver/dpdk/rdma_provider.h"

namespace pinwire {

void register_rdma_provider() noexcept {}

}  // namespace pinwire

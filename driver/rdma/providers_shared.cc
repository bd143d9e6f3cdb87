#include "driver/rdma/providers.h"

namespace pinwire {

void register_rdma_providers() noexcept {}

}  // namespace pinwire

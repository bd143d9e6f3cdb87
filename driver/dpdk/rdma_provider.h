// Mellanox ports reach DPDK through libibverbs, which, linked statically, knows no device by itself.
#pragma once

namespace pinwire {

/// Before EAL probes. Does nothing in a build without the mlx5 driver.
void register_rdma_provider() noexcept;

}  // namespace pinwire

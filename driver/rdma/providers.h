// A libibverbs that is linked statically knows no device by itself; it is told which drivers
// ("providers") are in the program. For the verbs driver, and for DPDK's Mellanox ports.
#pragma once

namespace pinwire {

/// Before the first look for devices; any number of times. Does nothing where libibverbs is a
/// shared library, which finds its providers in the system.
void register_rdma_providers() noexcept;

}  // namespace pinwire

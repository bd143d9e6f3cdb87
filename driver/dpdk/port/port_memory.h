// Memory of a port's queues: pools, their size, and whose mempool cache is whose.
#pragma once

#include <rte_mempool.h>

#include <cstdint>

namespace pinwire {

/// Room for a frame's bytes in a receive buffer.
uint32_t buffer_bytes(uint32_t frame_bytes, bool power_of_two);

/// Buffers of one queue: both rings full, `rx_buffers` held by the user, the caches full.
uint32_t pool_frames(uint32_t rx_ring, uint32_t tx_ring, uint32_t rx_buffers);

/// Its pages are there already: the data plane meets none for the first time. On the NUMA node
/// `socket`, which becomes SOCKET_ID_ANY if that has too little memory. nullptr: nor has another.
rte_mempool* make_pool(const char* kind, uint32_t frames, uint16_t private_bytes,
                       uint32_t data_bytes, int& socket);

/// Numbers of mempool caches, as lcores have them; each queue of each port has its own. 0: none
/// left.
uint32_t take_lcores(uint32_t count);
void give_lcores(uint32_t first, uint32_t count);

}  // namespace pinwire

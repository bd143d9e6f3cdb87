// Connections of iWARP devices (RFC 5040, 5044): a queue pair there is the end of a TCP connection,
// which only the RDMA connection manager (librdmacm) makes. There are no datagrams to say hello
// with, so all connections are made at attach: of each pair of ranks the lower one calls, the
// higher one is called.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "driver/verbs/device/device.h"
#include "driver/verbs/peer/address.h"
#include "driver/work.h"

namespace pinwire::verbs {

class ConnectionManager {
 public:
  /// One end of a connection to be: `link` of `lane` to `peer`.
  struct End {
    Rank peer;
    uint32_t lane;
    uint32_t link;
    ibv_qp* queue;
  };
  struct Setting {
    Rank rank;
    uint64_t job_key;
    uint32_t timeout_s;  ///< of the wait for one rank; 0: for ever
    uint32_t reads_max;  ///< under way at once on a connection
    std::function<ibv_qp*(Rank peer, uint32_t lane, uint32_t link)> end_of;  ///< nullptr: none
  };

  virtual ~ConnectionManager() = default;
  /// Where this rank is called: the address in `gid`, the TCP port in `lid`.
  virtual void fill_in(Place& place) const noexcept = 0;
  /// Calls, or waits to be called, until all these ends of one peer are connected. Meanwhile it
  /// answers whoever calls, so ranks may do this in any order.
  virtual Status join(const Place& peer, std::span<const End> ends) = 0;
};

/// Listens for the device; `wanted_ip` (GASNET_GID): of its addresses, this one; empty: the first.
Result<std::unique_ptr<ConnectionManager>> make_connection_manager(
    const Device& device, const std::string& wanted_ip, ConnectionManager::Setting setting);
/// Whether this build has one.
bool has_connection_manager() noexcept;

}  // namespace pinwire::verbs

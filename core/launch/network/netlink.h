// The few requests to the kernel's network configuration that a test network needs. Each acts on
// the network namespace in which its Netlink was opened.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/launch/process/process.h"

namespace pinwire::launch {

using EtherAddress = std::array<uint8_t, 6>;

class Netlink {
 public:
  static Result<Netlink> open();

  Status add_bridge(const std::string& name);
  /// `name` here, `peer_name` with `peer_address` in the namespace `peer_namespace_fd`.
  Status add_veth(const std::string& name, const std::string& peer_name,
                  const EtherAddress& peer_address, uint32_t mtu_bytes, int peer_namespace_fd);
  Status join_bridge(const std::string& name, const std::string& bridge);
  Status bring_up(const std::string& name);

 private:
  explicit Netlink(Fd socket) : socket_(std::move(socket)) {}
  Status ask(const class NetlinkRequest& request, const char* what, const std::string& name);
  Fd socket_;
  uint32_t sequence_ = 0;
};

}  // namespace pinwire::launch

// The specification of a fake RDMA device: its limits, its ports, their addresses. The structs of
// verbs are used where they say it already.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pinwire::fake_verbs {

/// One entry of a port's GID table. All zero: an empty entry, as real tables have.
struct Gid {
  std::array<uint8_t, 16> bytes{};
  ibv_gid_type type = IBV_GID_TYPE_IB;
  bool operator==(const Gid&) const = default;
};
Gid ib_gid(uint64_t subnet_prefix, uint64_t guid);
Gid link_local_gid(uint64_t interface_id, ibv_gid_type type);
Gid ipv4_gid(uint8_t a, uint8_t b, uint8_t c, uint8_t d, ibv_gid_type type);
Gid ipv6_gid(const std::array<uint8_t, 16>& address, ibv_gid_type type);

struct PortSpec {
  ibv_port_attr
      facts{};  ///< state, active_mtu, lid, link_layer, max_msg_sz; gid_tbl_len is set by add()
  std::vector<Gid> gids;
  std::vector<uint16_t> pkeys = {0xffff};
  uint32_t subnet = 0;  ///< ports of different subnets never reach each other
};

struct HcaSpec {
  std::string name;
  uint64_t guid = 0;
  ibv_device_attr limits{};         ///< phys_port_cnt is set by add()
  uint32_t inline_bytes_max = 256;  ///< verbs has no query for it: create_qp refuses more
  int completion_vectors = 2;
  bool has_datagrams = true;
  bool has_thread_domains = true;
  ibv_odp_caps odp{};  ///< on-demand paging
  /// Against the specification (IBA o9-20): data may come as late as the write's completion, after
  /// messages that were sent behind it.
  bool has_late_writes = false;
  /// As with iWARP (RFC 5040, 5.5): data may come after the write's completion, when something
  /// follows on the connection.
  bool has_early_completions = false;
  std::vector<PortSpec> ports;
};

/// Whether the devices made here have shared receive queues: a run of all tests with
/// FAKE_VERBS_SRQ=no in its environment has them do without, as Intel's E810 does (irdma).
bool has_shared_receives();

/// An InfiniBand device with one active port of 4096-byte packets and one GID (of the default
/// subnet prefix). Change what the test needs changed.
HcaSpec infiniband(const std::string& name, uint16_t lid);
/// On-demand paging as mlx5 has it: all memory or a part, everything that connections do.
ibv_odp_caps all_paging();
/// A RoCE device, MTU 1024, with the GIDs that a Linux host of address 10.0.0.`host` has: 0 and 1
/// link-local as RoCE v1 and v2, 2 and 3 the IPv4 address as v1 and v2.
HcaSpec roce(const std::string& name, uint8_t host);

}  // namespace pinwire::fake_verbs

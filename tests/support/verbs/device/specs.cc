#include "tests/support/verbs/device/specs.h"

#include <endian.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace pinwire::fake_verbs {
namespace {

constexpr uint64_t kLinkLocalPrefix = 0xfe80'0000'0000'0000u;

ibv_device_attr usual_limits() {
  ibv_device_attr limits{};
  std::strcpy(limits.fw_ver, "fake");
  limits.max_mr_size = uint64_t{1} << 40;
  limits.page_size_cap = 0xffff'f000u;
  limits.max_qp = 1024;
  limits.max_qp_wr = 8192;
  limits.max_sge = 16;
  limits.max_sge_rd = 16;
  limits.max_cq = 1024;
  limits.max_cqe = 65536;
  limits.max_mr = 4096;
  limits.max_pd = 64;
  limits.max_qp_rd_atom = 16;
  limits.max_qp_init_rd_atom = 16;
  limits.max_res_rd_atom = 16 * 1024;
  limits.atomic_cap = IBV_ATOMIC_HCA;
  limits.max_ah = 4096;
  if (has_shared_receives()) {
    limits.max_srq = 64;
    limits.max_srq_wr = 16384;
    limits.max_srq_sge = 8;
  }
  limits.max_pkeys = 1;
  return limits;
}

PortSpec active_port(uint8_t link_layer, ibv_mtu mtu) {
  PortSpec port;
  port.facts.state = IBV_PORT_ACTIVE;
  port.facts.max_mtu = IBV_MTU_4096;
  port.facts.active_mtu = mtu;
  port.facts.max_msg_sz = 1u << 30;
  port.facts.link_layer = link_layer;
  port.facts.phys_state = 5;  // LinkUp
  return port;
}

void store_big_endian(uint8_t* at, uint64_t value) {
  value = htobe64(value);
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

bool has_shared_receives() {
  const char* wanted = std::getenv("FAKE_VERBS_SRQ");
  return wanted == nullptr || std::string_view(wanted) != "no";
}

Gid ib_gid(uint64_t subnet_prefix, uint64_t guid) {
  Gid gid;
  store_big_endian(gid.bytes.data(), subnet_prefix);
  store_big_endian(gid.bytes.data() + 8, guid);
  return gid;
}

Gid link_local_gid(uint64_t interface_id, ibv_gid_type type) {
  Gid gid = ib_gid(kLinkLocalPrefix, interface_id);
  gid.type = type;
  return gid;
}

Gid ipv4_gid(uint8_t a, uint8_t b, uint8_t c, uint8_t d, ibv_gid_type type) {
  return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}, type};
}

Gid ipv6_gid(const std::array<uint8_t, 16>& address, ibv_gid_type type) { return {address, type}; }

HcaSpec infiniband(const std::string& name, uint16_t lid) {
  HcaSpec spec;
  spec.name = name;
  spec.guid = 0x0002'c903'0000'0000u + lid;
  spec.limits = usual_limits();
  PortSpec port = active_port(IBV_LINK_LAYER_INFINIBAND, IBV_MTU_4096);
  port.facts.lid = lid;
  port.facts.sm_lid = 1;
  port.gids = {ib_gid(kLinkLocalPrefix, spec.guid)};
  spec.ports = {port};
  return spec;
}

ibv_odp_caps all_paging() {
  ibv_odp_caps caps{};
  caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
                                        IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
                                        IBV_ODP_SUPPORT_ATOMIC;
  return caps;
}

HcaSpec roce(const std::string& name, uint8_t host) {
  HcaSpec spec;
  spec.name = name;
  spec.guid = 0x0002'c9ff'fe00'0000u + host;
  spec.limits = usual_limits();
  PortSpec port = active_port(IBV_LINK_LAYER_ETHERNET, IBV_MTU_1024);
  for (ibv_gid_type type : {IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2}) {
    port.gids.push_back(link_local_gid(spec.guid, type));
  }
  for (ibv_gid_type type : {IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2}) {
    port.gids.push_back(ipv4_gid(10, 0, 0, host, type));
  }
  spec.ports = {port};
  return spec;
}

}  // namespace pinwire::fake_verbs

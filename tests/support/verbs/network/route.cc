// The port at an address.
#include <cstring>

#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

bool is_ethernet(const Port& port) { return port.spec.facts.link_layer == IBV_LINK_LAYER_ETHERNET; }

bool is_reachable(const Hca& hca, const Port& port) {
  return hca.health == Health::kWell && port.state() == IBV_PORT_ACTIVE;
}

/// RoCE of one version does not talk to the other, nor IPv4 to IPv6.
bool has_gid(const Port& port, const ibv_gid& wanted, ibv_gid_type type) {
  for (const Gid& gid : port.spec.gids) {
    if (gid.type == type && std::memcmp(gid.bytes.data(), wanted.raw, sizeof wanted.raw) == 0) {
      return true;
    }
  }
  return false;
}

bool answers(const Port& from, const Port& to, const ibv_ah_attr& ah) {
  if (is_ethernet(from) != is_ethernet(to) || from.spec.subnet != to.spec.subnet) return false;
  if (!is_ethernet(from) && ah.dlid != to.spec.facts.lid) return false;
  if (ah.is_global == 0) return true;
  return has_gid(to, ah.grh.dgid, from.spec.gids[ah.grh.sgid_index].type);
}

Hca* device_at(World& world, Hca& from, const ibv_ah_attr& ah) {
  const Port* out = from.port(ah.port_num);
  if (!is_reachable(from, *out)) return nullptr;
  for (auto& hca : world.hcas) {
    for (const Port& port : hca->ports) {
      if (is_reachable(*hca, port) && answers(*out, port, ah)) return hca.get();
    }
  }
  return nullptr;
}

/// A packet with a global header is for this queue pair only if it names its address (IBA 9.6.1.2).
bool is_addressed(const Qp& from, const Qp& to) {
  const ibv_ah_attr& ours = from.attr.ah_attr;
  const ibv_ah_attr& theirs = to.attr.ah_attr;
  if (ours.is_global == 0) return true;
  if (theirs.is_global == 0) return false;
  const Gid& expected = to.hca->port(theirs.port_num)->spec.gids[theirs.grh.sgid_index];
  const Gid& source = from.hca->port(ours.port_num)->spec.gids[ours.grh.sgid_index];
  return expected.type == source.type &&
         std::memcmp(expected.bytes.data(), ours.grh.dgid.raw, sizeof ours.grh.dgid.raw) == 0;
}

}  // namespace

bool is_address_valid(Hca& hca, const ibv_ah_attr& ah) {
  const Port* port = hca.port(ah.port_num);
  if (port == nullptr) return false;
  if (ah.is_global == 0) {  // an Ethernet port has no other address
    return !is_ethernet(*port) && (port->spec.facts.flags & IBV_QPF_GRH_REQUIRED) == 0;
  }
  if (ah.grh.sgid_index >= port->spec.gids.size()) return false;
  return port->spec.gids[ah.grh.sgid_index].bytes != Gid{}.bytes;
}

Qp* queue_pair_at(World& world, Hca& from, const ibv_ah_attr& ah, uint32_t qp_num) {
  const Hca* hca = device_at(world, from, ah);
  if (hca == nullptr) return nullptr;
  const auto found = hca->by_qp_num.find(qp_num);
  return found != hca->by_qp_num.end() ? found->second : nullptr;
}

/// Are both of one partition, and not both its limited members (IBA 10.9.3).
bool are_partners(const Qp& a, const Qp& b) {
  constexpr unsigned int kFullMember = 0x8000;
  const unsigned int ours = a.hca->port(a.attr.port_num)->spec.pkeys[a.attr.pkey_index];
  const unsigned int theirs = b.hca->port(b.attr.port_num)->spec.pkeys[b.attr.pkey_index];
  return ((ours ^ theirs) & ~kFullMember) == 0 && ((ours | theirs) & kFullMember) != 0;
}

Qp* connected_peer(World& world, Qp& qp) {
  Qp* peer = queue_pair_at(world, *qp.hca, qp.attr.ah_attr, qp.attr.dest_qp_num);
  if (peer == nullptr || peer->qp_type != IBV_QPT_RC) return nullptr;
  if (peer->state != IBV_QPS_RTR && peer->state != IBV_QPS_RTS) return nullptr;
  if (queue_pair_at(world, *peer->hca, peer->attr.ah_attr, peer->attr.dest_qp_num) != &qp) {
    return nullptr;  // it talks to somebody else
  }
  if (!are_partners(qp, *peer)) return nullptr;
  if (!is_addressed(qp, *peer) || !is_addressed(*peer, qp)) return nullptr;
  return peer->attr.rq_psn == qp.attr.sq_psn ? peer : nullptr;
}

uint32_t packets_of(const Qp& qp, uint32_t bytes) {
  const uint32_t packet = 128u << qp.attr.path_mtu;
  return bytes == 0 ? 1 : (bytes - 1) / packet + 1;
}

}  // namespace pinwire::fake_verbs

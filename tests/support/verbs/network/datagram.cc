// Unreliable datagrams: address handles, and sends that may vanish.
#include <endian.h>

#include <cstring>

#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

constexpr size_t kHeaderBytes = sizeof(ibv_grh);
static_assert(kHeaderBytes == 40);

bool is_ipv4(const Gid& gid) {
  constexpr uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.bytes.data(), kPrefix, sizeof kPrefix) == 0;
}

/// RoCE v2 over IPv4 has its header in the last 20 of the 40 bytes.
void write_ipv4(std::byte* packet, const Gid& source, const ibv_ah_attr& ah) {
  std::byte* header = packet + 20;
  std::memset(header, 0, 20);
  header[0] = std::byte{0x45};
  header[8] = std::byte{ah.grh.hop_limit};
  header[9] = std::byte{17};  // UDP
  std::memcpy(header + 12, source.bytes.data() + 12, 4);
  std::memcpy(header + 16, ah.grh.dgid.raw + 12, 4);
}

void write_global(std::byte* packet, const Gid& source, const ibv_ah_attr& ah) {
  ibv_grh header{};
  header.version_tclass_flow = htobe32(6u << 28 | ah.grh.flow_label);
  header.next_hdr = source.type == IBV_GID_TYPE_ROCE_V2 ? 17 : 0x1b;  // UDP, or IBA
  header.hop_limit = ah.grh.hop_limit;
  std::memcpy(header.sgid.raw, source.bytes.data(), sizeof header.sgid.raw);
  header.dgid = ah.grh.dgid;
  std::memcpy(packet, &header, sizeof header);
}

/// The 40 bytes before the data: a header if the packet had one, otherwise nothing in particular.
std::vector<std::byte> with_header(const Qp& from, const SendWqe& wqe,
                                   const std::vector<std::byte>& data) {
  std::vector<std::byte> packet(kHeaderBytes, std::byte{0xcc});
  if (wqe.ah.is_global != 0) {
    const Gid& source = from.hca->port(wqe.ah.port_num)->spec.gids[wqe.ah.grh.sgid_index];
    const bool has_ipv4 = source.type == IBV_GID_TYPE_ROCE_V2 && is_ipv4(source);
    (has_ipv4 ? write_ipv4 : write_global)(packet.data(), source, wqe.ah);
  }
  packet.insert(packet.end(), data.begin(), data.end());
  return packet;
}

bool is_dropped(World& world) {
  if (world.datagrams_to_drop > 0) {
    --world.datagrams_to_drop;
    return true;
  }
  return world.random.chance(world.timing.ud_loss);
}

Qp* receiver_of(World& world, const Qp& from, const SendWqe& wqe) {
  if (is_dropped(world)) return nullptr;
  Qp* to = queue_pair_at(world, *from.hca, wqe.ah, wqe.wr.wr.ud.remote_qpn);
  if (to == nullptr || to->qp_type != IBV_QPT_UD) return nullptr;
  if (to->state != IBV_QPS_RTR && to->state != IBV_QPS_RTS) return nullptr;
  if (!are_partners(from, *to)) return nullptr;
  return to->attr.qkey == wqe.wr.wr.ud.remote_qkey ? to : nullptr;
}

void deliver(World& world, const Qp& from, Qp& to, const SendWqe& wqe, const RecvWqe& receive,
             const std::vector<std::byte>& packet) {
  ibv_wc wc{};
  wc.status = scatter(to, receive.places, packet.data(), packet.size());
  wc.opcode = IBV_WC_RECV;
  wc.byte_len = static_cast<uint32_t>(packet.size());
  wc.src_qp = from.qp_num;
  wc.slid = from.hca->port(wqe.ah.port_num)->spec.facts.lid;
  wc.sl = wqe.ah.sl;
  if (wqe.ah.is_global != 0) wc.wc_flags |= IBV_WC_GRH;
  if (wqe.wr.opcode == IBV_WR_SEND_WITH_IMM) {
    wc.wc_flags |= IBV_WC_WITH_IMM;
    wc.imm_data = wqe.wr.imm_data;
  }
  complete_receive(world, to, receive, wc, (wqe.wr.send_flags & IBV_SEND_SOLICITED) != 0);
  if (wc.status != IBV_WC_SUCCESS) to_error(world, to);
}

}  // namespace

Attempt send_datagram(World& world, Qp& qp, SendWqe& wqe, const std::vector<std::byte>& data) {
  const Port* port = qp.hca->port(qp.attr.port_num);
  if (data.size() > 128u << port->spec.facts.active_mtu) {
    return {Outcome::kDone, IBV_WC_LOC_LEN_ERR};
  }
  Qp* to = receiver_of(world, qp, wqe);
  RecvWqe receive;
  if (to == nullptr || !take_receive(world, *to, receive)) {
    ++qp.hca->counters.datagrams_dropped;  // nobody is told
    return {Outcome::kDone};
  }
  ++qp.hca->counters.sends;
  const std::vector<std::byte> packet = with_header(qp, wqe, data);
  deliver(world, qp, *to, wqe, receive, packet);
  if (world.random.chance(world.timing.ud_twice) && take_receive(world, *to, receive)) {
    deliver(world, qp, *to, wqe, receive, packet);
  }
  return {Outcome::kDone};
}

}  // namespace pinwire::fake_verbs

using namespace pinwire::fake_verbs;

extern "C" {

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  Locked lock;
  Hca& hca = hca_of(pd->context);
  if (const int error = lock->fault(Call::kCreateAh, hca)) return refuse<ibv_ah>(error);
  if (!is_address_valid(hca, *attr)) return refuse<ibv_ah>(EINVAL);
  auto made = std::make_unique<Ah>();
  made->context = pd->context;
  made->pd = pd;
  made->handle = lock->next_handle++;
  made->attr = *attr;
  ++static_cast<Pd*>(pd)->users;
  Ah* ah = made.get();
  lock->ahs.emplace(ah->handle, std::move(made));
  return ah;
}

int ibv_destroy_ah(ibv_ah* ah) {
  Locked lock;
  --static_cast<Pd*>(ah->pd)->users;
  lock->ahs.erase(ah->handle);
  return 0;
}

}  // extern "C"

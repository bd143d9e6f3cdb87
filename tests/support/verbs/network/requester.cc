// The sending half of a work request: checks what is local, reads the data, finds the peer.
#include <utility>

#include "core/base/hash.h"
#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

bool is_atomic(const SendWqe& wqe) {
  return wqe.wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wqe.wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/// The answer must have a place before the question is asked.
ibv_wc_status check_answer_place(const Qp& qp, const SendWqe& wqe) {
  if (qp.attr.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  if (is_atomic(wqe) && wqe.bytes != sizeof(uint64_t)) return IBV_WC_LOC_LEN_ERR;
  for (const ibv_sge& place : wqe.places) {
    if (place.length != 0 && local_memory(qp, place, IBV_ACCESS_LOCAL_WRITE) == nullptr) {
      return IBV_WC_LOC_PROT_ERR;
    }
  }
  return IBV_WC_SUCCESS;
}

ibv_wc_status prepare(Qp& qp, SendWqe& wqe, std::vector<std::byte>& data) {
  const Port* port = qp.hca->port(qp.attr.port_num);
  if (wqe.bytes > port->spec.facts.max_msg_sz) return IBV_WC_LOC_LEN_ERR;
  if (wqe.wr.opcode == IBV_WR_RDMA_READ || is_atomic(wqe)) return check_answer_place(qp, wqe);
  const ibv_wc_status status = gather(qp, wqe, data);
  wqe.source_hash = hash_more(kHashStart, data.data(), data.size());
  if (wqe.inline_data.empty()) qp.hca->counters.gathered_bytes += data.size();
  return status;
}

}  // namespace

ibv_wc_status gather(const Qp& qp, const SendWqe& wqe, std::vector<std::byte>& data) {
  data = wqe.inline_data;
  for (const ibv_sge& place : wqe.places) {
    if (place.length == 0) continue;
    const std::byte* memory = local_memory(qp, place, 0);
    if (memory == nullptr) return IBV_WC_LOC_PROT_ERR;
    data.resize(data.size() + place.length);
    device_copy(data.data() + data.size() - place.length, memory, place.length);
  }
  return IBV_WC_SUCCESS;
}

Attempt attempt(World& world, Qp& qp, SendWqe& wqe) {
  std::vector<std::byte> data;
  if (const ibv_wc_status status = prepare(qp, wqe, data); status != IBV_WC_SUCCESS) {
    return {Outcome::kDone, status};
  }
  if (qp.qp_type == IBV_QPT_UD) return send_datagram(world, qp, wqe, data);
  if (qp.hca->next_status != IBV_WC_SUCCESS) {
    return {Outcome::kDone, std::exchange(qp.hca->next_status, IBV_WC_SUCCESS)};
  }
  Qp* peer = connected_peer(world, qp);
  if (peer == nullptr) return {Outcome::kLost};
  const Attempt tried = respond(world, qp, *peer, wqe, data);
  if (tried.outcome != Outcome::kDone || tried.status != IBV_WC_SUCCESS) return tried;
  constexpr uint32_t kPsnMask = 0xffffff;
  const uint32_t packets = is_atomic(wqe) ? 1 : packets_of(qp, wqe.bytes);
  qp.attr.sq_psn = (qp.attr.sq_psn + packets) & kPsnMask;
  peer->attr.rq_psn = (peer->attr.rq_psn + packets) & kPsnMask;
  return tried;
}

}  // namespace pinwire::fake_verbs

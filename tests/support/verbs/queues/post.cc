// Posting sends: what the device takes at once, and what it refuses.
#include <cstring>

#include "tests/support/verbs/engine.h"
#include "tests/support/verbs/ops.h"

namespace pinwire::fake_verbs {
namespace {

bool is_known(ibv_qp_type type, ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      return true;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return type == IBV_QPT_RC;
    default:
      return false;
  }
}

bool brings_data(ibv_wr_opcode opcode) {
  return opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_CMP_AND_SWP &&
         opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
}

uint64_t bytes_of(const ibv_send_wr& wr) {
  uint64_t bytes = 0;
  for (int i = 0; i < wr.num_sge; ++i) bytes += wr.sg_list[i].length;
  return bytes;
}

int refusal(const Qp& qp, const ibv_send_wr& wr) {
  if (!is_known(qp.qp_type, wr.opcode)) return EINVAL;
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > qp.attr.cap.max_send_sge) return EINVAL;
  if (qp.posted - qp.released >= qp.attr.cap.max_send_wr) return ENOMEM;
  if (bytes_of(wr) > UINT32_MAX) return EINVAL;
  if (qp.qp_type == IBV_QPT_UD &&
      (wr.wr.ud.ah == nullptr || protection_of(wr.wr.ud.ah->pd) != protection_of(qp.pd))) {
    return EINVAL;
  }
  if ((wr.send_flags & IBV_SEND_INLINE) == 0) return 0;
  return brings_data(wr.opcode) && bytes_of(wr) <= qp.attr.cap.max_inline_data ? 0 : EINVAL;
}

std::vector<std::byte> copy_inline(const ibv_send_wr& wr) {
  std::vector<std::byte> data;
  for (int i = 0; i < wr.num_sge; ++i) {
    const auto* from = reinterpret_cast<const std::byte*>(wr.sg_list[i].addr);
    data.insert(data.end(), from, from + wr.sg_list[i].length);
  }
  return data;
}

void trace(World& world, const Qp& qp, const ibv_send_wr& wr) {
  PostedWr line;
  line.device = qp.hca->name;
  line.qp_num = qp.qp_num;
  line.doorbell = qp.hca->counters.doorbells + 1;
  line.wr_id = wr.wr_id;
  line.opcode = wr.opcode;
  line.send_flags = wr.send_flags;
  line.places.assign(wr.sg_list, wr.sg_list + wr.num_sge);
  const bool is_atomic =
      wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  const auto& pkeys = qp.hca->port(qp.attr.port_num)->spec.pkeys;
  line.pkey = pkeys[qp.attr.pkey_index];
  line.way = qp.qp_type == IBV_QPT_UD ? static_cast<Ah*>(wr.wr.ud.ah)->attr : qp.attr.ah_attr;
  if (qp.qp_type == IBV_QPT_RC) {
    line.remote_addr = is_atomic ? wr.wr.atomic.remote_addr : wr.wr.rdma.remote_addr;
  }
  world.trace.push_back(std::move(line));
}

void accept(World& world, Qp& qp, const ibv_send_wr& wr) {
  SendWqe wqe{};
  wqe.wr = wr;
  wqe.bytes = static_cast<uint32_t>(bytes_of(wr));
  wqe.index = qp.posted++;
  wqe.is_signalled = qp.signals_all || (wr.send_flags & IBV_SEND_SIGNALED) != 0;
  Counters& counters = qp.hca->counters;
  if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
    wqe.inline_data = copy_inline(wr);
    ++counters.inline_wrs;
    counters.inline_bytes += wqe.bytes;
  } else {
    wqe.places.assign(wr.sg_list, wr.sg_list + wr.num_sge);
  }
  // The handle may be destroyed before the datagram leaves.
  if (qp.qp_type == IBV_QPT_UD) wqe.ah = static_cast<Ah*>(wr.wr.ud.ah)->attr;
  if (world.is_traced) trace(world, qp, wr);
  ++counters.send_wrs;
  if (wqe.is_signalled) ++counters.signalled_wrs;
  // The caller's lists are his again.
  wqe.wr.next = nullptr;
  wqe.wr.sg_list = nullptr;
  qp.sends.push_back(std::move(wqe));
}

}  // namespace

int post_send(ibv_qp* base, ibv_send_wr* first, ibv_send_wr** bad) {
  Locked lock;
  auto& qp = static_cast<Qp&>(*base);
  *bad = first;
  if (const int error = lock->fault(Call::kPostSend)) return error;
  if (qp.state != IBV_QPS_RTS && qp.state != IBV_QPS_ERR) return EINVAL;
  if (qp.sends.empty()) qp.ready_at = lock->now + lock->random.below(lock->timing.delay_max + 1);
  int error = 0;
  ibv_send_wr* wr = first;
  for (; wr != nullptr && error == 0; wr = error == 0 ? wr->next : wr) {
    error = refusal(qp, *wr);
    if (error == 0) accept(*lock, qp, *wr);
  }
  *bad = wr;
  if (wr != first) ++qp.hca->counters.doorbells;
  return error;
}

}  // namespace pinwire::fake_verbs

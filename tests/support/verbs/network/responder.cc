// The receiving half of a connection: checks rights, moves the data, answers or refuses.
#include <cstring>

#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

/// A refusal ends the connection at both ends (IBA 9.9.3).
Attempt refuse_with(World& world, Qp& at, ibv_wc_status status) {
  const bool is_access = status == IBV_WC_REM_ACCESS_ERR;
  raise(is_access ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR, at);
  to_error(world, at);
  return {Outcome::kDone, status};
}

Attempt fail_receive(World& world, Qp& at, const RecvWqe& wqe, ibv_wc_status here,
                     ibv_wc_status there) {
  ibv_wc wc{};
  wc.status = here;
  complete_receive(world, at, wqe, wc, false);
  to_error(world, at);
  return {Outcome::kDone, there};
}

Attempt not_ready(Qp& at) {
  ++at.hca->counters.rnr_naks;
  return {Outcome::kNotReady};
}

uint64_t total(const std::vector<ibv_sge>& places) {
  uint64_t bytes = 0;
  for (const ibv_sge& place : places) bytes += place.length;
  return bytes;
}

Attempt send(World& world, Qp& at, const SendWqe& wqe, const std::vector<std::byte>& data) {
  RecvWqe receive;
  if (!take_receive(world, at, receive)) return not_ready(at);
  if (data.size() > total(receive.places)) {
    return fail_receive(world, at, receive, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR);
  }
  if (scatter(at, receive.places, data.data(), data.size()) != IBV_WC_SUCCESS) {
    return fail_receive(world, at, receive, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
  }
  ibv_wc wc{};
  wc.opcode = IBV_WC_RECV;
  wc.byte_len = static_cast<uint32_t>(data.size());
  if (wqe.wr.opcode == IBV_WR_SEND_WITH_IMM) {
    wc.imm_data = wqe.wr.imm_data;
    wc.wc_flags = IBV_WC_WITH_IMM;
  }
  complete_receive(world, at, receive, wc, (wqe.wr.send_flags & IBV_SEND_SOLICITED) != 0);
  return {Outcome::kDone};
}

/// Is the operation allowed at all on this queue pair?
bool permits(const Qp& at, unsigned int access) { return (at.attr.qp_access_flags & access) != 0; }

Attempt write(World& world, Qp& from, Qp& at, SendWqe& wqe, const std::vector<std::byte>& data) {
  if (!permits(at, IBV_ACCESS_REMOTE_WRITE)) return refuse_with(world, at, IBV_WC_REM_INV_REQ_ERR);
  std::byte* memory = nullptr;
  if (!data.empty()) {  // without data no key is looked at (IBA 9.4.3.1)
    memory = remote_memory(at, wqe.wr.wr.rdma.remote_addr, data.size(), wqe.wr.wr.rdma.rkey,
                           IBV_ACCESS_REMOTE_WRITE);
    if (memory == nullptr) return refuse_with(world, at, IBV_WC_REM_ACCESS_ERR);
  }
  RecvWqe receive;
  const bool tells = wqe.wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (tells && !take_receive(world, at, receive)) return not_ready(at);
  if (at.hca->spec.has_late_writes && world.random.chance(0.5)) {
    wqe.late_goal = memory;
    wqe.result = data;
  } else if (memory != nullptr && at.hca->spec.has_early_completions && world.random.chance(0.5)) {
    from.unplaced.push_back({memory, data});
  } else if (memory != nullptr) {
    device_copy(memory, data.data(), data.size());
  }
  if (!tells) return {Outcome::kDone};
  ibv_wc wc{};
  wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  wc.byte_len = static_cast<uint32_t>(data.size());
  wc.imm_data = wqe.wr.imm_data;
  wc.wc_flags = IBV_WC_WITH_IMM;
  complete_receive(world, at, receive, wc, (wqe.wr.send_flags & IBV_SEND_SOLICITED) != 0);
  return {Outcome::kDone};
}

Attempt read(World& world, Qp& at, SendWqe& wqe) {
  if (!permits(at, IBV_ACCESS_REMOTE_READ)) return refuse_with(world, at, IBV_WC_REM_INV_REQ_ERR);
  wqe.result.assign(wqe.bytes, std::byte{0});
  wqe.late_source = nullptr;
  if (wqe.bytes == 0) return {Outcome::kDone};
  const std::byte* memory = remote_memory(at, wqe.wr.wr.rdma.remote_addr, wqe.bytes,
                                          wqe.wr.wr.rdma.rkey, IBV_ACCESS_REMOTE_READ);
  if (memory == nullptr) return refuse_with(world, at, IBV_WC_REM_ACCESS_ERR);
  device_copy(wqe.result.data(), memory, wqe.bytes);
  if (world.strictness.late_reads && world.random.chance(0.5)) wqe.late_source = memory;
  return {Outcome::kDone};
}

Attempt atomic(World& world, Qp& at, SendWqe& wqe) {
  const auto& operands = wqe.wr.wr.atomic;
  if (!permits(at, IBV_ACCESS_REMOTE_ATOMIC) || operands.remote_addr % sizeof(uint64_t) != 0 ||
      at.hca->spec.limits.atomic_cap == IBV_ATOMIC_NONE) {
    return refuse_with(world, at, IBV_WC_REM_INV_REQ_ERR);
  }
  std::byte* memory = remote_memory(at, operands.remote_addr, sizeof(uint64_t), operands.rkey,
                                    IBV_ACCESS_REMOTE_ATOMIC);
  if (memory == nullptr) return refuse_with(world, at, IBV_WC_REM_ACCESS_ERR);
  auto* word = reinterpret_cast<uint64_t*>(memory);
  uint64_t old = operands.compare_add;
  if (wqe.wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    old = __atomic_fetch_add(word, operands.compare_add, __ATOMIC_ACQ_REL);
  } else {  // leaves what it found in `old`, which is what was expected if it swapped
    __atomic_compare_exchange_n(word, &old, operands.swap, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
  }
  wqe.result.resize(sizeof old);
  std::memcpy(wqe.result.data(), &old, sizeof old);
  return {Outcome::kDone};
}

void count(Counters& counters, ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      ++counters.sends;
      return;
    case IBV_WR_RDMA_READ:
      ++counters.reads;
      return;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      ++counters.atomics;
      return;
    default:
      ++counters.writes;
  }
}

void place_what_came_before(Qp& from) {
  for (const UnplacedWrite& write : from.unplaced) {
    device_copy(write.goal, write.data.data(), write.data.size());
  }
  from.unplaced.clear();
}

Attempt execute(World& world, Qp& from, Qp& at, SendWqe& wqe, const std::vector<std::byte>& data) {
  place_what_came_before(from);
  switch (wqe.wr.opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      return send(world, at, wqe, data);
    case IBV_WR_RDMA_READ:
      return read(world, at, wqe);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return atomic(world, at, wqe);
    default:
      return write(world, from, at, wqe, data);
  }
}

/// More reads at once than the responder said it can keep.
bool exceeds_reads(const Qp& from, const Qp& to, const SendWqe& wqe) {
  const bool is_read = wqe.wr.opcode == IBV_WR_RDMA_READ ||
                       wqe.wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
                       wqe.wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  return is_read && reads_under_way(from) >= to.attr.max_dest_rd_atomic;
}

}  // namespace

Attempt respond(World& world, Qp& from, Qp& to, SendWqe& wqe, const std::vector<std::byte>& data) {
  if (to.state == IBV_QPS_RTR && !to.is_established) raise(IBV_EVENT_COMM_EST, to);
  to.is_established = true;
  // Packets of several sizes of path: the first of a long message is not as long as it should be.
  const bool is_odd = from.attr.path_mtu != to.attr.path_mtu && packets_of(from, wqe.bytes) > 1;
  if (is_odd || exceeds_reads(from, to, wqe)) return refuse_with(world, to, IBV_WC_REM_INV_REQ_ERR);
  const Attempt done = execute(world, from, to, wqe, data);
  if (done.outcome == Outcome::kDone && done.status == IBV_WC_SUCCESS) {
    count(from.hca->counters, wqe.wr.opcode);
  }
  return done;
}

}  // namespace pinwire::fake_verbs

// Completion queues: what goes in, what polls take out, and when their channel wakes.
#include "tests/support/verbs/engine.h"
#include "tests/support/verbs/ops.h"

namespace pinwire::fake_verbs {
namespace {

void push(World& world, Cq& cq, const Cqe& entry, bool solicited) {
  if (cq.entries.size() >= static_cast<size_t>(cq.cqe)) {
    if (!cq.is_overrun) {
      raise(IBV_EVENT_CQ_ERR, cq);
      world.violation("overrun of cq #" + std::to_string(cq.handle) + " of " +
                      std::to_string(cq.cqe) + " entries");
    }
    cq.is_overrun = true;
    return;
  }
  cq.entries.push_back(entry);
  const bool is_wanted =
      cq.arming == Arming::kNext || (cq.arming == Arming::kSolicited && solicited);
  if (!is_wanted) return;
  cq.arming = Arming::kNone;  // one event each time that it was armed
  if (cq.channel == nullptr) return;
  static_cast<Channel*>(cq.channel)->events.push(&cq);
  ++hca_of(cq.context).counters.events;
}

/// Fields that a failed completion does not define (IBA 11.4.2.1) have odd values.
void spoil(ibv_wc& wc) {
  wc.opcode = IBV_WC_TM_SYNC;
  wc.byte_len = 0xbad0bad0;
  wc.imm_data = 0xbad0bad0;
  wc.wc_flags = 0;
  wc.src_qp = 0xbad0ba;
  wc.vendor_err = 0x42;
}

ibv_wc_opcode opcode_of(ibv_wr_opcode posted) {
  switch (posted) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_SEND;
  }
}

/// Slots of a queue are free again when the completion was polled, not when the device made it.
void release(const Cqe& entry) {
  if (entry.queue != nullptr) {
    --entry.queue->held;
  } else {
    entry.qp->released = entry.send_index + 1;
  }
}

}  // namespace

void complete_send(World& world, Qp& qp, const SendWqe& wqe, ibv_wc_status status) {
  if (!wqe.is_signalled && status == IBV_WC_SUCCESS) return;
  ibv_wc wc{};
  wc.wr_id = wqe.wr.wr_id;
  wc.status = status;
  wc.opcode = opcode_of(wqe.wr.opcode);
  wc.qp_num = qp.qp_num;
  if (wc.opcode != IBV_WC_SEND && wc.opcode != IBV_WC_RDMA_WRITE) wc.byte_len = wqe.bytes;
  if (status != IBV_WC_SUCCESS) spoil(wc);
  push(world, static_cast<Cq&>(*qp.send_cq), {wc, &qp, wqe.index, nullptr},
       status != IBV_WC_SUCCESS);
}

void complete_receive(World& world, Qp& qp, const RecvWqe& wqe, ibv_wc wc, bool solicited) {
  wc.wr_id = wqe.wr_id;
  wc.qp_num = qp.qp_num;
  if (wc.status != IBV_WC_SUCCESS) spoil(wc);
  push(world, static_cast<Cq&>(*qp.recv_cq), {wc, &qp, 0, &qp.receive_queue()},
       solicited || wc.status != IBV_WC_SUCCESS);
}

int poll_cq(ibv_cq* base, int count, ibv_wc* out) {
  Locked lock;
  auto& cq = static_cast<Cq&>(*base);
  Hca& hca = hca_of(cq.context);
  if (lock->fault(Call::kPollCq) != 0) return -1;
  if (!lock->is_manual) tick(*lock);
  ++hca.counters.polls;
  if (hca.health == Health::kDead) return 0;
  int taken = 0;
  for (; taken < count && !cq.entries.empty(); ++taken) {
    out[taken] = cq.entries.front().wc;
    release(cq.entries.front());
    cq.entries.pop_front();
  }
  hca.counters.completions += static_cast<uint64_t>(taken);
  if (taken == 0) ++hca.counters.empty_polls;
  return taken;
}

int req_notify_cq(ibv_cq* base, int solicited_only) {
  Locked lock;
  auto& cq = static_cast<Cq&>(*base);
  if (const int error = lock->fault(Call::kReqNotify, hca_of(cq.context))) return error;
  // A completion that is already there raises no event (IBA 11.4.2.2): poll once more after arming.
  if (solicited_only == 0) {
    cq.arming = Arming::kNext;
  } else if (cq.arming == Arming::kNone) {
    cq.arming = Arming::kSolicited;
  }
  return 0;
}

}  // namespace pinwire::fake_verbs

using namespace pinwire::fake_verbs;

extern "C" {

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context,
                      ibv_comp_channel* channel, int vector) {
  Locked lock;
  Hca& hca = hca_of(context);
  if (const int error = lock->fault(Call::kCreateCq, hca)) return refuse<ibv_cq>(error);
  if (entries < 1 || entries > hca.spec.limits.max_cqe) return refuse<ibv_cq>(EINVAL);
  if (vector < 0 || vector >= hca.spec.completion_vectors) return refuse<ibv_cq>(EINVAL);
  if (channel != nullptr && channel->context != context) return refuse<ibv_cq>(EINVAL);
  auto made = std::make_unique<Cq>();
  made->context = context;
  made->channel = channel;
  made->cq_context = cq_context;
  made->handle = lock->next_handle++;
  made->cqe = entries;
  ++context_of(context).users;
  if (channel != nullptr) ++channel->refcnt;
  Cq* cq = made.get();
  lock->cqs.emplace(cq->handle, std::move(made));
  return cq;
}

int ibv_destroy_cq(ibv_cq* base) {
  Locked lock;
  auto* cq = static_cast<Cq*>(base);
  if (cq->users != 0) return EBUSY;
  // libibverbs waits for the acknowledgements, for ever.
  if (cq->events_read != cq->comp_events_completed ||
      cq->async_read != cq->async_events_completed) {
    lock->violation("cq #" + std::to_string(cq->handle) +
                    " destroyed with events not acknowledged");
    return EBUSY;
  }
  Context& context = context_of(cq->context);
  context.events.drop_if([&](const ibv_async_event& event) {
    return event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == cq;
  });
  if (cq->channel != nullptr) {
    static_cast<Channel*>(cq->channel)->events.drop_if([&](Cq* of) { return of == cq; });
    --cq->channel->refcnt;
  }
  --context.users;
  lock->cqs.erase(cq->handle);
  return 0;
}

}  // extern "C"

// Queue pairs that fail: what was queued comes back flushed.
#include <algorithm>

#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

void forget_completions(Cq& cq, const Qp& qp) {
  std::erase_if(cq.entries, [&](const Cqe& entry) {
    if (entry.qp != &qp) return false;
    if (entry.queue != nullptr) --entry.queue->held;
    return true;
  });
}

}  // namespace

void to_error(World&, Qp& qp) {
  if (qp.state == IBV_QPS_ERR) return;
  qp.state = IBV_QPS_ERR;
  // Buffers of a shared queue stay in it; this event says that no more will be taken
  // (IBA 10.2.9.3).
  if (qp.srq != nullptr) raise(IBV_EVENT_QP_LAST_WQE_REACHED, qp);
}

void flush(World& world, Qp& qp) {
  while (!qp.sends.empty()) {
    complete_send(world, qp, qp.sends.front(), IBV_WC_WR_FLUSH_ERR);
    qp.sends.pop_front();
  }
  qp.executed = 0;
  if (qp.srq != nullptr) return;
  RecvWqe wqe;
  while (take_receive(world, qp, wqe)) {
    ibv_wc wc{};
    wc.status = IBV_WC_WR_FLUSH_ERR;
    complete_receive(world, qp, wqe, wc, false);
  }
}

void reset_queues(World& world, Qp& qp) {
  forget_completions(static_cast<Cq&>(*qp.send_cq), qp);
  forget_completions(static_cast<Cq&>(*qp.recv_cq), qp);
  qp.sends.clear();
  qp.executed = 0;
  qp.released = qp.posted;
  qp.is_stopped = false;
  qp.is_established = false;
  qp.last_ack_at = 0;
  if (qp.srq == nullptr) {
    forget_receives(world, *qp.hca, qp.receives);
    qp.receives.held = 0;
  }
}

}  // namespace pinwire::fake_verbs

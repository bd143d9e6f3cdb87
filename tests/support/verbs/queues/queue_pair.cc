// The life of queue pairs, and what can be asked of them.
#include <algorithm>

#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

int refusal(World& world, const Hca& hca, const ibv_pd* pd, const ibv_qp_init_attr& init) {
  if (const int error = world.fault(Call::kCreateQp, hca)) return error;
  if (init.qp_type != IBV_QPT_RC && init.qp_type != IBV_QPT_UD) return EOPNOTSUPP;
  if (init.qp_type == IBV_QPT_UD && !hca.spec.has_datagrams) return EOPNOTSUPP;
  if (init.send_cq == nullptr || init.recv_cq == nullptr) return EINVAL;
  if (init.send_cq->context != pd->context || init.recv_cq->context != pd->context) return EINVAL;
  if (init.srq != nullptr && init.srq->context != pd->context) return EINVAL;
  const ibv_device_attr& limits = hca.spec.limits;
  const auto wrs_max = static_cast<uint32_t>(limits.max_qp_wr);
  const auto places_max = static_cast<uint32_t>(limits.max_sge);
  const ibv_qp_cap& cap = init.cap;
  if (cap.max_send_wr > wrs_max || cap.max_send_sge > places_max) return EINVAL;
  if (init.srq == nullptr && (cap.max_recv_wr > wrs_max || cap.max_recv_sge > places_max)) {
    return EINVAL;
  }
  if (cap.max_inline_data > hca.spec.inline_bytes_max) return EINVAL;
  return hca.by_qp_num.size() >= static_cast<size_t>(limits.max_qp) ? ENOMEM : 0;
}

/// Real devices use numbers again some time; here the next queue pair gets the last one's.
uint32_t take_number(Hca& hca) {
  if (hca.free_qp_nums.empty()) return hca.next_qp_num++;
  const uint32_t number = hca.free_qp_nums.back();
  hca.free_qp_nums.pop_back();
  return number;
}

void add_users(Qp& qp, int32_t count) {
  const auto by = static_cast<uint32_t>(count);
  static_cast<Pd*>(qp.pd)->users += by;
  static_cast<Cq*>(qp.send_cq)->users += by;
  static_cast<Cq*>(qp.recv_cq)->users += by;
  if (qp.srq != nullptr) static_cast<Srq*>(qp.srq)->users += by;
}

bool is_of(const ibv_async_event& event, const Qp* qp) {
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return event.element.qp == qp;
    default:
      return false;
  }
}

}  // namespace
}  // namespace pinwire::fake_verbs

using namespace pinwire::fake_verbs;

extern "C" {

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  Locked lock;
  Hca& hca = hca_of(pd->context);
  if (const int error = refusal(*lock, hca, pd, *init)) return refuse<ibv_qp>(error);
  auto made = std::make_unique<Qp>();
  made->context = pd->context;
  made->qp_context = init->qp_context;
  made->pd = pd;
  made->send_cq = init->send_cq;
  made->recv_cq = init->recv_cq;
  made->srq = init->srq;
  made->handle = lock->next_handle++;
  made->qp_num = take_number(hca);
  made->state = IBV_QPS_RESET;
  made->qp_type = init->qp_type;
  made->hca = &hca;
  // Real devices round up what they are asked for; who counts on that is found out here.
  if (init->srq != nullptr) init->cap.max_recv_wr = init->cap.max_recv_sge = 0;
  made->attr.cap = init->cap;
  made->signals_all = init->sq_sig_all != 0;
  made->receives.depth = init->cap.max_recv_wr;
  made->receives.places_max = init->cap.max_recv_sge;
  add_users(*made, 1);
  Qp* qp = made.get();
  hca.by_qp_num[qp->qp_num] = qp;
  if (qp->qp_type == IBV_QPT_RC) {
    hca.connections_max = std::max(hca.connections_max, ++hca.connections);
  }
  lock->qps.emplace(qp->handle, std::move(made));
  return qp;
}

int ibv_query_qp(ibv_qp* base, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
  Locked lock;
  auto& qp = static_cast<Qp&>(*base);
  *attr = qp.attr;
  attr->qp_state = attr->cur_qp_state = qp.state;
  *init = {qp.qp_context,         qp.send_cq, qp.recv_cq, qp.srq, qp.attr.cap, qp.qp_type,
           qp.signals_all ? 1 : 0};
  return 0;
}

int ibv_destroy_qp(ibv_qp* base) {
  Locked lock;
  auto* qp = static_cast<Qp*>(base);
  if (qp->async_read != qp->events_completed) {
    lock->violation("qp #" + std::to_string(qp->handle) +
                    " destroyed with events not acknowledged");
    return EBUSY;
  }
  context_of(qp->context).events.drop_if([&](const ibv_async_event& event) {
    return is_of(event, qp);
  });
  reset_queues(*lock, *qp);
  add_users(*qp, -1);
  qp->hca->by_qp_num.erase(qp->qp_num);
  qp->hca->free_qp_nums.push_back(qp->qp_num);
  qp->hca->connections -= qp->qp_type == IBV_QPT_RC;
  lock->qps.erase(qp->handle);
  return 0;
}

}  // extern "C"

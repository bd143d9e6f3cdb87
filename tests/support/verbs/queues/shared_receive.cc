// The life of shared receive queues.
#include "tests/support/verbs/engine.h"

using namespace pinwire::fake_verbs;

extern "C" {

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* init) {
  Locked lock;
  Hca& hca = hca_of(pd->context);
  if (const int error = lock->fault(Call::kCreateSrq, hca)) return refuse<ibv_srq>(error);
  const ibv_device_attr& limits = hca.spec.limits;
  if (limits.max_srq == 0) return refuse<ibv_srq>(EOPNOTSUPP);
  if (init->attr.max_wr < 1 || init->attr.max_wr > static_cast<uint32_t>(limits.max_srq_wr) ||
      init->attr.max_sge > static_cast<uint32_t>(limits.max_srq_sge)) {
    return refuse<ibv_srq>(EINVAL);
  }
  auto made = std::make_unique<Srq>();
  made->context = pd->context;
  made->srq_context = init->srq_context;
  made->pd = pd;
  made->handle = lock->next_handle++;
  made->queue.depth = init->attr.max_wr;
  made->queue.places_max = init->attr.max_sge;
  ++static_cast<Pd*>(pd)->users;
  Srq* srq = made.get();
  lock->srqs.emplace(srq->handle, std::move(made));
  return srq;
}

int ibv_modify_srq(ibv_srq* base, ibv_srq_attr* attr, int mask) {
  Locked lock;
  auto* srq = static_cast<Srq*>(base);
  if (mask != IBV_SRQ_LIMIT) return EINVAL;  // as devices that cannot resize
  if (attr->srq_limit > srq->queue.depth) return EINVAL;
  srq->limit = attr->srq_limit;
  if (srq->queue.posted.size() < srq->limit) {
    srq->limit = 0;
    raise(IBV_EVENT_SRQ_LIMIT_REACHED, *srq);
  }
  return 0;
}

int ibv_query_srq(ibv_srq* base, ibv_srq_attr* attr) {
  Locked lock;
  auto* srq = static_cast<Srq*>(base);
  *attr = {srq->queue.depth, srq->queue.places_max, srq->limit};
  return 0;
}

int ibv_destroy_srq(ibv_srq* base) {
  Locked lock;
  auto* srq = static_cast<Srq*>(base);
  if (srq->users != 0) return EBUSY;
  if (srq->async_read != srq->events_completed) {
    lock->violation("srq #" + std::to_string(srq->handle) +
                    " destroyed with events not acknowledged");
    return EBUSY;
  }
  context_of(srq->context).events.drop_if([&](const ibv_async_event& event) {
    return (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED ||
            event.event_type == IBV_EVENT_SRQ_ERR) &&
           event.element.srq == srq;
  });
  forget_receives(*lock, hca_of(srq->context), srq->queue);
  --static_cast<Pd*>(srq->pd)->users;
  lock->srqs.erase(srq->handle);
  return 0;
}

}  // extern "C"

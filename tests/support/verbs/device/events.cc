// Completion channels and asynchronous events.
#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

/// Takes an event out of a file that may be blocking; `note` runs under the lock.
template <typename Event, typename Note>
bool take(EventFile<Event>& file, Event& event, Note note) {
  for (;;) {
    {
      Locked lock;
      if (file.pop(event)) {
        note();
        return true;
      }
    }
    if (!wait_readable(file.fd())) return false;
  }
}

bool is_of_qp(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return true;
    default:
      return false;
  }
}

bool is_of_srq(ibv_event_type type) {
  return type == IBV_EVENT_SRQ_ERR || type == IBV_EVENT_SRQ_LIMIT_REACHED;
}

void note_read(const ibv_async_event& event) {
  if (event.event_type == IBV_EVENT_CQ_ERR) ++static_cast<Cq*>(event.element.cq)->async_read;
  if (is_of_qp(event.event_type)) ++static_cast<Qp*>(event.element.qp)->async_read;
  if (is_of_srq(event.event_type)) ++static_cast<Srq*>(event.element.srq)->async_read;
}

}  // namespace

void raise(Context& context, ibv_event_type type, int port) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = port;
  context.events.push(event);
}

void raise(ibv_event_type type, Qp& qp) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.qp = &qp;
  context_of(qp.context).events.push(event);
}

void raise(ibv_event_type type, Cq& cq) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.cq = &cq;
  context_of(cq.context).events.push(event);
}

void raise(ibv_event_type type, Srq& srq) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.srq = &srq;
  context_of(srq.context).events.push(event);
}

}  // namespace pinwire::fake_verbs

using namespace pinwire::fake_verbs;

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  Locked lock;
  if (const int error = lock->fault(Call::kCreateChannel, hca_of(context))) {
    return refuse<ibv_comp_channel>(error);
  }
  auto made = std::make_unique<Channel>();
  made->context = context;
  made->fd = made->events.fd();
  made->handle = lock->next_handle++;
  ++context_of(context).users;
  Channel* channel = made.get();
  lock->channels.emplace(channel->handle, std::move(made));
  return channel;
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  Locked lock;
  if (channel->refcnt != 0) return EBUSY;
  --context_of(channel->context).users;
  lock->channels.erase(static_cast<Channel*>(channel)->handle);
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** out, void** cq_context) {
  Cq* cq = nullptr;
  const bool found = take(static_cast<Channel*>(channel)->events, cq, [&] {
    ++cq->events_read;
    *out = cq;
    *cq_context = cq->cq_context;
  });
  return found ? 0 : -1;
}

void ibv_ack_cq_events(ibv_cq* base, unsigned int count) {
  Locked lock;
  auto* cq = static_cast<Cq*>(base);
  cq->comp_events_completed += count;
  if (cq->comp_events_completed > cq->events_read) {
    lock->violation("more events acknowledged than were read of cq #" + std::to_string(cq->handle));
  }
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  return take(context_of(context).events, *event, [&] { note_read(*event); }) ? 0 : -1;
}

void ibv_ack_async_event(ibv_async_event* event) {
  Locked lock;
  if (event->event_type == IBV_EVENT_CQ_ERR) ++event->element.cq->async_events_completed;
  if (is_of_qp(event->event_type)) ++event->element.qp->events_completed;
  if (is_of_srq(event->event_type)) ++event->element.srq->events_completed;
}

}  // extern "C"

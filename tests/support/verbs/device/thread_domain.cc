// Thread domains, and the parent domains that join them with a protection domain.
#include "tests/support/verbs/engine.h"
#include "tests/support/verbs/ops.h"

namespace pinwire::fake_verbs {

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attr) {
  Locked lock;
  Hca& hca = hca_of(context);
  if (const int error = lock->fault(Call::kAllocTd, hca)) return refuse<ibv_td>(error);
  if (!hca.spec.has_thread_domains) return refuse<ibv_td>(EOPNOTSUPP);
  if (attr->comp_mask != 0) return refuse<ibv_td>(EINVAL);
  auto made = std::make_unique<Td>();
  made->context = context;
  made->handle = lock->next_handle++;
  ++context_of(context).users;
  Td* td = made.get();
  lock->tds.emplace(td->handle, std::move(made));
  return td;
}

int dealloc_td(ibv_td* base) {
  Locked lock;
  auto* td = static_cast<Td*>(base);
  if (td->users != 0) return EBUSY;
  --context_of(td->context).users;
  lock->tds.erase(td->handle);
  return 0;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
  Locked lock;
  const int error = lock->fault(Call::kAllocParentDomain, hca_of(context));
  if (error != 0) return refuse<ibv_pd>(error);
  if (attr->pd == nullptr || attr->pd->context != context || attr->comp_mask != 0) {
    return refuse<ibv_pd>(EINVAL);
  }
  auto made = std::make_unique<Pd>();
  made->context = context;
  made->handle = lock->next_handle++;
  made->base = static_cast<Pd*>(attr->pd);
  made->td = static_cast<Td*>(attr->td);
  ++made->base->users;
  if (made->td != nullptr) ++made->td->users;
  ++context_of(context).users;
  Pd* pd = made.get();
  lock->pds.emplace(pd->handle, std::move(made));
  return pd;
}

}  // namespace pinwire::fake_verbs

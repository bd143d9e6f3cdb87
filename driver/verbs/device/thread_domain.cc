#include "driver/verbs/device/thread_domain.h"

namespace pinwire::verbs {

void ThreadDomain::open(const Device& device) noexcept {
  ibv_td_init_attr domain{};
  domain_.reset(ibv_alloc_td(device.context.get(), &domain));
  if (!domain_) return;
  ibv_parent_domain_init_attr parent{};
  parent.pd = device.pd.get();
  parent.td = domain_.get();
  parent_.reset(ibv_alloc_parent_domain(device.context.get(), &parent));
  if (!parent_) domain_.reset();
}

}  // namespace pinwire::verbs

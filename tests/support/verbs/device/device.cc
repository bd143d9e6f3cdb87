// Devices: finding, opening, asking.
#include <endian.h>

#include <cstdlib>
#include <cstring>

#include "tests/support/verbs/ops.h"
#include "tests/support/verbs/world.h"

#undef ibv_query_port

using namespace pinwire::fake_verbs;

namespace pinwire::fake_verbs {
namespace {

int query_port(ibv_context* context, uint8_t number, ibv_port_attr* attr, size_t attr_bytes) {
  Locked lock;
  Hca& hca = hca_of(context);
  if (const int error = lock->fault(Call::kQueryPort, hca)) return error;
  const Port* port = hca.port(number);
  if (port == nullptr) return EINVAL;
  std::memcpy(attr, &port->spec.facts, std::min(attr_bytes, sizeof *attr));
  return 0;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input*,
                    ibv_device_attr_ex* attr, size_t attr_bytes) {
  Locked lock;
  Hca& hca = hca_of(context);
  if (const int error = lock->fault(Call::kQueryDeviceEx, hca)) return error;
  ibv_device_attr_ex all{};
  all.orig_attr = hca.spec.limits;
  all.odp_caps = hca.spec.odp;
  std::memcpy(attr, &all, std::min(attr_bytes, sizeof all));
  return 0;
}

std::unique_ptr<Context> make_context(Hca& hca) {
  auto context = std::make_unique<Context>();
  context->sz = sizeof(verbs_context);
  context->query_port = query_port;
  context->query_device_ex = query_device_ex;
  context->alloc_td = alloc_td;
  context->dealloc_td = dealloc_td;
  context->alloc_parent_domain = alloc_parent_domain;
  ibv_context& base = context->context;
  base.device = &hca;
  base.abi_compat = __VERBS_ABI_IS_EXTENDED;
  base.cmd_fd = -1;
  base.async_fd = context->events.fd();
  base.num_comp_vectors = hca.spec.completion_vectors;
  base.ops.poll_cq = poll_cq;
  base.ops.req_notify_cq = req_notify_cq;
  base.ops.post_send = post_send;
  base.ops.post_recv = post_recv;
  base.ops.post_srq_recv = post_srq_recv;
  context->hca = &hca;
  return context;
}

}  // namespace
}  // namespace pinwire::fake_verbs

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  Locked lock;
  if (count != nullptr) *count = 0;
  if (lock.world() == nullptr) return refuse<ibv_device*>(ENOSYS);
  if (const int error = lock->fault(Call::kGetDeviceList)) return refuse<ibv_device*>(error);
  const size_t found = lock->hcas.size();
  auto** list = static_cast<ibv_device**>(std::calloc(found + 1, sizeof(ibv_device*)));
  for (size_t i = 0; i < found; ++i) list[i] = lock->hcas[i].get();
  if (count != nullptr) *count = static_cast<int>(found);
  return list;
}

void ibv_free_device_list(ibv_device** list) { std::free(list); }
const char* ibv_get_device_name(ibv_device* device) { return device->name; }
__be64 ibv_get_device_guid(ibv_device* device) {
  return htobe64(static_cast<Hca*>(device)->spec.guid);
}

ibv_context* ibv_open_device(ibv_device* device) {
  Locked lock;
  auto& hca = static_cast<Hca&>(*device);
  if (const int error = lock->fault(Call::kOpenDevice, hca)) return refuse<ibv_context>(error);
  auto made = make_context(hca);
  made->handle = lock->next_handle++;
  ibv_context* context = &made->context;
  lock->contexts.emplace(made->handle, std::move(made));
  return context;
}

int ibv_close_device(ibv_context* context) {
  Locked lock;
  Context& mine = context_of(context);
  if (mine.users != 0) {  // The kernel would clear up, but their memory in the program would leak.
    lock->violation(std::string(mine.hca->name) + " closed with objects alive");
    return EBUSY;
  }
  lock->contexts.erase(mine.handle);
  return 0;
}

int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  Locked lock;
  Hca& hca = hca_of(context);
  if (const int error = lock->fault(Call::kQueryDevice, hca)) return error;
  *attr = hca.spec.limits;
  return 0;
}

/// For those who were compiled before the struct grew; the inline function of today asks the
/// context.
int ibv_query_port(ibv_context* context, uint8_t number, _compat_ibv_port_attr* attr) {
  return query_port(context, number, reinterpret_cast<ibv_port_attr*>(attr),
                    offsetof(ibv_port_attr, port_cap_flags2));
}

}  // extern "C"

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

std::unique_ptr<Context> make_context(Hca& hca) {
  auto context = std::make_unique<Context>();
  context->sz = sizeof(verbs_context);
  context->query_port = query_port;
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

/// The entry, or nullptr with the errno; an empty one is no entry to those that know types.
const Gid* find_gid(World& world, ibv_context* context, uint32_t number, uint32_t index,
                    int& error) {
  Hca& hca = hca_of(context);
  error = world.fault(Call::kQueryGid, hca);
  if (error != 0) return nullptr;
  const Port* port = hca.port(number);
  error = EINVAL;
  if (port == nullptr || index >= port->spec.gids.size()) return nullptr;
  return &port->spec.gids[index];
}

void fill(ibv_gid_entry& entry, const Gid& gid, uint32_t port, uint32_t index) {
  std::memcpy(entry.gid.raw, gid.bytes.data(), sizeof entry.gid.raw);
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type = gid.type;
  entry.ndev_ifindex = 0;
}

bool is_empty(const Gid& gid) { return gid.bytes == Gid{}.bytes; }

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

int ibv_query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* out) {
  Locked lock;
  int error = 0;
  const Gid* gid = find_gid(*lock, context, port, static_cast<uint32_t>(index), error);
  if (gid == nullptr) {
    errno = error;
    return -1;
  }
  std::memcpy(out->raw, gid->bytes.data(), sizeof out->raw);
  return 0;
}

int _ibv_query_gid_ex(ibv_context* context, uint32_t port, uint32_t index, ibv_gid_entry* entry,
                      uint32_t flags, size_t entry_bytes) {
  Locked lock;
  int error = 0;
  if (flags != 0 || entry_bytes < sizeof *entry) return EOPNOTSUPP;
  const Gid* gid = find_gid(*lock, context, port, index, error);
  if (gid == nullptr) return error;
  if (is_empty(*gid)) return ENODATA;
  fill(*entry, *gid, port, index);
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, size_t entries_max,
                             uint32_t flags, size_t entry_bytes) {
  Locked lock;
  Hca& hca = hca_of(context);
  if (flags != 0 || entry_bytes < sizeof *entries) return -EOPNOTSUPP;
  if (const int error = lock->fault(Call::kQueryGid, hca)) return -error;
  size_t count = 0;
  for (uint32_t port = 1; port <= hca.ports.size(); ++port) {
    const auto& gids = hca.port(port)->spec.gids;
    for (uint32_t index = 0; index < gids.size(); ++index) {
      if (is_empty(gids[index])) continue;
      if (count == entries_max) return -EINVAL;
      fill(entries[count++], gids[index], port, index);
    }
  }
  return static_cast<ssize_t>(count);
}

int ibv_query_pkey(ibv_context* context, uint8_t number, int index, __be16* pkey) {
  Locked lock;
  const Port* port = hca_of(context).port(number);
  if (port == nullptr || index < 0 || static_cast<size_t>(index) >= port->spec.pkeys.size()) {
    errno = EINVAL;
    return -1;
  }
  *pkey = htobe16(port->spec.pkeys[static_cast<size_t>(index)]);
  return 0;
}

}  // extern "C"

// The addresses of ports: GIDs and partition keys.
#include <endian.h>

#include <cstring>

#include "tests/support/verbs/world.h"

namespace pinwire::fake_verbs {
namespace {

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

using namespace pinwire::fake_verbs;

extern "C" {

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

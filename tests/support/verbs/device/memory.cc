// Protection domains and memory regions.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/support/verbs/engine.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace pinwire::fake_verbs {
namespace {

constexpr int kRemoteAccess =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

bool is_mapped(void* base, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(base) & ~(page - 1);
  const auto end = reinterpret_cast<uintptr_t>(base) + bytes;
  std::vector<unsigned char> resident((end - start + page - 1) / page);
  return mincore(reinterpret_cast<void*>(start), end - start, resident.data()) == 0;
}

/// All of the process's memory (ibv_reg_mr(3)).
bool is_implicit(const void* base, size_t bytes, int access) {
  return (access & IBV_ACCESS_ON_DEMAND) != 0 && base == nullptr && bytes == SIZE_MAX;
}

int refusal(World& world, const Hca& hca, void* base, size_t bytes, int access) {
  if (const int error = world.fault(Call::kRegMr, hca)) return error;
  const bool is_all = is_implicit(base, bytes, access);
  const auto pages = hca.spec.odp.general_caps;
  if (is_all && (pages & IBV_ODP_SUPPORT_IMPLICIT) == 0) return EINVAL;
  if (is_all && (access & IBV_ACCESS_REMOTE_ATOMIC) != 0 &&
      (hca.spec.odp.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_ATOMIC) == 0) {
    return EOPNOTSUPP;
  }
  if (bytes == 0 || (bytes > hca.spec.limits.max_mr_size && !is_all)) return EINVAL;
  constexpr int kWriters = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if ((access & kWriters) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0) return EINVAL;
  constexpr int kKnown = kRemoteAccess | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING;
  const int known = kKnown | ((pages & IBV_ODP_SUPPORT) != 0 ? IBV_ACCESS_ON_DEMAND : 0);
  if ((access & ~known) != 0) return EOPNOTSUPP;
  if (hca.mrs >= static_cast<uint32_t>(hca.spec.limits.max_mr)) return ENOMEM;
  return is_all || is_mapped(base, bytes) ? 0 : EFAULT;
}

/// Each key is another, and none is small: who mixes them up, or makes one up, is found out.
uint32_t new_key(World& world) {
  return world.next_handle++ << 8 | static_cast<uint32_t>(world.random.below(255)) | 1;
}

ibv_mr* register_memory(ibv_pd* pd, void* base, size_t bytes, uint64_t start, int access) {
  Locked lock;
  Hca& hca = hca_of(pd->context);
  if (const int error = refusal(*lock, hca, base, bytes, access)) return refuse<ibv_mr>(error);
  auto made = std::make_unique<Mr>();
  made->context = pd->context;
  made->pd = pd;
  made->addr = base;
  made->length = bytes;
  made->handle = lock->next_handle++;
  made->lkey = new_key(*lock);
  if ((access & kRemoteAccess) != 0) made->rkey = new_key(*lock);
  made->start = start;
  made->access = access;
  Mr* mr = made.get();
  hca.by_local_key[mr->lkey] = mr;
  if (mr->rkey != 0) hca.by_remote_key[mr->rkey] = mr;
  ++hca.mrs;
  ++hca.counters.registrations;
  ++static_cast<Pd*>(pd)->users;
  lock->has_registered = true;
  lock->mrs.emplace(mr->handle, std::move(made));
  return mr;
}

/// Whether every page of it is mapped: also to be written to, if the region may write at all,
/// whatever it is wanted for. mlx5 takes its page faults likewise (Linux,
/// drivers/infiniband/hw/mlx5/odp.c).
bool has_pages(uint64_t address, uint64_t bytes, bool writable) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  check(maps != nullptr, "no /proc/self/maps");
  char line[512];
  uint64_t at = address;
  const uint64_t end = address + bytes;
  while (at < end && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long from = 0, to = 0;
    char rights[8] = "";
    if (std::sscanf(line, "%llx-%llx %7s", &from, &to, rights) != 3 || to <= at) continue;
    if (from > at || rights[0] != 'r' || (writable && rights[1] != 'w')) break;
    at = to;
  }
  std::fclose(maps);
  return at >= end;
}

bool can_page(const Hca& hca, int access) {
  const uint32_t can = hca.spec.odp.per_transport_caps.rc_odp_caps;
  if ((access & IBV_ACCESS_REMOTE_WRITE) != 0) return (can & IBV_ODP_SUPPORT_WRITE) != 0;
  if ((access & IBV_ACCESS_REMOTE_READ) != 0) return (can & IBV_ODP_SUPPORT_READ) != 0;
  if ((access & IBV_ACCESS_REMOTE_ATOMIC) != 0) return (can & IBV_ODP_SUPPORT_ATOMIC) != 0;
  return true;
}

std::byte* inside(const std::map<uint32_t, Mr*>& keys, uint32_t key, const ibv_pd* pd,
                  uint64_t address, uint64_t bytes, int access) {
  const auto found = keys.find(key);
  if (found == keys.end()) return nullptr;
  const Mr& mr = *found->second;
  if (protection_of(mr.pd) != protection_of(pd) || (mr.access & access) != access) return nullptr;
  if (address < mr.start || bytes > mr.length || address - mr.start > mr.length - bytes) {
    return nullptr;
  }
  if ((mr.access & IBV_ACCESS_ON_DEMAND) != 0) {
    constexpr int kWriters =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    Hca& hca = hca_of(mr.context);
    if (!can_page(hca, access) || !has_pages(address, bytes, (mr.access & kWriters) != 0)) {
      return nullptr;
    }
    hca.counters.paged_bytes += bytes;
  }
  return reinterpret_cast<std::byte*>(reinterpret_cast<uint64_t>(mr.addr) + (address - mr.start));
}

}  // namespace

std::byte* local_memory(const Qp& qp, const ibv_sge& place, int access) {
  return inside(qp.hca->by_local_key, place.lkey, qp.pd, place.addr, place.length, access);
}

std::byte* remote_memory(const Qp& at, uint64_t address, uint64_t bytes, uint32_t key, int access) {
  return inside(at.hca->by_remote_key, key, at.pd, address, bytes, access);
}

void device_copy(std::byte* to, const std::byte* from, uint64_t bytes) {
  uint64_t done = 0;
  const auto both = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
  if (both % 8 == 0) {
    for (; done + 8 <= bytes; done += 8) {
      const uint64_t word =
          __atomic_load_n(reinterpret_cast<const uint64_t*>(from + done), __ATOMIC_RELAXED);
      // Release: pairs with the acquire of whoever watches this word to learn that those before
      // came.
      __atomic_store_n(reinterpret_cast<uint64_t*>(to + done), word, __ATOMIC_RELEASE);
    }
  }
  for (; done < bytes; ++done) {
    const auto byte =
        __atomic_load_n(reinterpret_cast<const uint8_t*>(from + done), __ATOMIC_RELAXED);
    __atomic_store_n(reinterpret_cast<uint8_t*>(to + done), byte, __ATOMIC_RELEASE);
  }
}

}  // namespace pinwire::fake_verbs

using namespace pinwire::fake_verbs;

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  Locked lock;
  if (const int error = lock->fault(Call::kAllocPd, hca_of(context))) return refuse<ibv_pd>(error);
  auto made = std::make_unique<Pd>();
  made->context = context;
  made->handle = lock->next_handle++;
  ++context_of(context).users;
  Pd* pd = made.get();
  lock->pds.emplace(pd->handle, std::move(made));
  return pd;
}

int ibv_dealloc_pd(ibv_pd* pd) {
  Locked lock;
  auto* mine = static_cast<Pd*>(pd);
  if (mine->users != 0) return EBUSY;
  if (mine->base != nullptr) --mine->base->users;
  if (mine->td != nullptr) --mine->td->users;
  --context_of(pd->context).users;
  lock->pds.erase(pd->handle);
  return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* base, size_t bytes, int access) {
  return register_memory(pd, base, bytes, reinterpret_cast<uintptr_t>(base), access);
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* base, size_t bytes, uint64_t start, int access) {
  return register_memory(pd, base, bytes, start, access);
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* base, size_t bytes, uint64_t start,
                         unsigned int access) {
  return register_memory(pd, base, bytes, start, static_cast<int>(access));
}

// A file of memory stands for a dma-buf.
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, uint64_t offset, size_t bytes, uint64_t start, int fd,
                          int access) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return nullptr;
  ibv_mr* made = register_memory(pd, memory, bytes, start, access);
  if (made == nullptr) {
    munmap(memory, bytes);
  } else {
    static_cast<Mr*>(made)->is_mapped = true;
  }
  return made;
}

int ibv_dereg_mr(ibv_mr* mr) {
  Locked lock;
  if (const int error = lock->fault(Call::kDeregMr)) return error;
  if (static_cast<Mr*>(mr)->is_mapped) munmap(mr->addr, mr->length);
  Hca& hca = hca_of(mr->context);
  if (!is_implicit(mr->addr, mr->length, static_cast<Mr*>(mr)->access)) {
    const auto start = reinterpret_cast<uint64_t>(mr->addr);
    lock->posted_receives.erase(lock->posted_receives.lower_bound(start),
                                lock->posted_receives.lower_bound(start + mr->length));
  }
  hca.by_local_key.erase(mr->lkey);
  hca.by_remote_key.erase(mr->rkey);
  --hca.mrs;
  --static_cast<Pd*>(mr->pd)->users;
  lock->mrs.erase(mr->handle);
  return 0;
}

int ibv_fork_init(void) {
  Locked lock;
  return lock->has_registered ? EINVAL : 0;  // too late, as in libibverbs
}

}  // extern "C"

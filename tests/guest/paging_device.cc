// Linked into a job's program, under libibverbs (-Wl,--wrap): makes a soft RDMA device one that
// pages all memory on demand. It takes the registration of all memory, and what is written to or
// read from such memory is copied by the kernel when it is posted, by addresses alone as a paging
// device does it; the work request stays, without its data, so that completions and order are the
// device's.
#include <infiniband/verbs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Macros of the header that would hide the functions.
#undef ibv_reg_mr

extern "C" {
ibv_context* __real_ibv_open_device(ibv_device* device);
ibv_mr* __real_ibv_reg_mr(ibv_pd* pd, void* base, size_t bytes, int access);
int __real_ibv_dereg_mr(ibv_mr* mr);
}

namespace {

/// Keys that no soft device gives out, with the owner's process in their low bits.
constexpr uint32_t kKindMask = 0xff00'0000, kWrites = 0x5a00'0000, kReads = 0x5b00'0000;

struct Device {
  int (*query)(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex*, size_t);
  int (*post)(ibv_qp*, ibv_send_wr*, ibv_send_wr**);
} real;

std::atomic<uint64_t> transfers{0};

[[noreturn]] void die(const char* what, uint64_t address, uint64_t bytes) {
  std::fprintf(stderr, "paging device: %s, %llu bytes at %#llx\n", what,
               static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address));
  std::abort();
}

bool is_paged(uint32_t key) { return (key & kKindMask) == kWrites || (key & kKindMask) == kReads; }

int query(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* facts,
          size_t bytes) {
  if (const int failed = real.query(context, input, facts, bytes); failed != 0) return failed;
  facts->odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  facts->odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
  return 0;
}

void move(const ibv_send_wr& request) {
  const auto pid = static_cast<pid_t>(request.wr.rdma.rkey & ~kKindMask);
  const bool is_write = request.opcode == IBV_WR_RDMA_WRITE;
  if (!is_write && request.opcode != IBV_WR_RDMA_READ) {
    die("neither a write nor a read", request.wr.rdma.remote_addr, 0);
  }
  if (is_write && (request.wr.rdma.rkey & kKindMask) != kWrites) {
    die("a write by a key for reading", request.wr.rdma.remote_addr, 0);
  }
  uint64_t remote = request.wr.rdma.remote_addr;
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& piece = request.sg_list[i];
    if (!is_write && (piece.lkey & kKindMask) == kReads) {
      die("a read into memory by a key for reading", piece.addr, piece.length);
    }
    const iovec here{reinterpret_cast<void*>(piece.addr), piece.length};
    const iovec there{reinterpret_cast<void*>(remote), piece.length};
    const ssize_t moved = is_write ? process_vm_writev(pid, &here, 1, &there, 1, 0)
                                   : process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (moved != static_cast<ssize_t>(piece.length)) die("no memory", remote, piece.length);
    remote += piece.length;
  }
  // Not at the end: jobs leave without one that a program sees.
  if (transfers.fetch_add(1, std::memory_order_relaxed) + 1 == 10) {
    std::fprintf(stderr, "paging device: 10 transfers\n");
  }
}

int post(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** refused) {
  constexpr size_t kChainMax = 64;
  ibv_send_wr copies[kChainMax];
  ibv_send_wr* originals[kChainMax];
  size_t count = 0;
  for (ibv_send_wr* at = first; at != nullptr; at = at->next, ++count) {
    if (count == kChainMax) die("a chain too long", 0, count);
    originals[count] = at;
    copies[count] = *at;
    if (count != 0) copies[count - 1].next = &copies[count];
    const bool is_transfer = at->opcode == IBV_WR_RDMA_WRITE || at->opcode == IBV_WR_RDMA_READ;
    if (is_transfer && is_paged(at->wr.rdma.rkey)) {
      move(*at);
      copies[count].num_sge = 0;
      copies[count].opcode = IBV_WR_RDMA_WRITE;  // rxe looks for the key of a read that it repeats
      continue;
    }
    for (int i = 0; i < at->num_sge; ++i) {
      if (is_paged(at->sg_list[i].lkey)) die("paged here alone", at->sg_list[i].addr, 0);
    }
  }
  ibv_send_wr* copy_refused = nullptr;
  const int failed = real.post(qp, copies, &copy_refused);
  if (failed != 0) *refused = originals[copy_refused - copies];
  return failed;
}

}  // namespace

extern "C" {

ibv_context* __wrap_ibv_open_device(ibv_device* device) {
  ibv_context* context = __real_ibv_open_device(device);
  if (context == nullptr) return nullptr;
  verbs_context* more = verbs_get_ctx(context);
  if (more == nullptr || more->query_device_ex == nullptr) die("an old libibverbs", 0, 0);
  if (context->ops.post_send != post) real = {more->query_device_ex, context->ops.post_send};
  more->query_device_ex = query;
  context->ops.post_send = post;
  return context;
}

ibv_mr* __wrap_ibv_reg_mr(ibv_pd* pd, void* base, size_t bytes, int access) {
  if ((access & IBV_ACCESS_ON_DEMAND) == 0) return __real_ibv_reg_mr(pd, base, bytes, access);
  if (base != nullptr || bytes != SIZE_MAX) die("only all memory is paged", 0, bytes);
  const uint32_t kind = (access & IBV_ACCESS_REMOTE_WRITE) != 0 ? kWrites : kReads;
  auto* mr = static_cast<ibv_mr*>(std::calloc(1, sizeof(ibv_mr)));
  mr->context = pd->context;
  mr->pd = pd;
  mr->length = bytes;
  mr->lkey = mr->rkey = kind | static_cast<uint32_t>(getpid());
  return mr;
}

ibv_mr* __wrap_ibv_reg_mr_iova2(ibv_pd* pd, void* base, size_t bytes, uint64_t,
                                unsigned int access) {
  return __wrap_ibv_reg_mr(pd, base, bytes, static_cast<int>(access));
}

int __wrap_ibv_dereg_mr(ibv_mr* mr) {
  if (!is_paged(mr->lkey)) return __real_ibv_dereg_mr(mr);
  std::free(mr);
  return 0;
}

}  // extern "C"

// Receive queues, shared or of one queue pair: buffers go in, messages take them.
#include <cstring>

#include "tests/support/verbs/engine.h"
#include "tests/support/verbs/ops.h"

namespace pinwire::fake_verbs {
namespace {

/// The memory of a place as the program sees it, whatever the key says; nullptr without a key.
std::byte* memory_of(const Hca& hca, const ibv_sge& place) {
  const auto found = hca.by_local_key.find(place.lkey);
  if (found == hca.by_local_key.end()) return nullptr;
  const Mr& mr = *found->second;
  if (place.addr < mr.start || place.addr - mr.start + place.length > mr.length) return nullptr;
  return static_cast<std::byte*>(mr.addr) + (place.addr - mr.start);
}

/// The buffer is the device's from now on.
void claim(World& world, const Hca& hca, const ibv_sge& place) {
  std::byte* memory = memory_of(hca, place);
  if (memory == nullptr || place.length == 0) return;
  const auto start = reinterpret_cast<uint64_t>(memory);
  auto& posted = world.posted_receives;
  auto next = posted.lower_bound(start + place.length);
  if (next != posted.begin() && std::prev(next)->second > start) {
    world.violation("a receive buffer of " + std::string(hca.name) + " is posted twice");
  }
  posted[start] = start + place.length;
  if (world.strictness.poisoned_receives) std::memset(memory, 0xa5, place.length);
}

void unclaim(World& world, const Hca& hca, const RecvWqe& wqe) {
  for (const ibv_sge& place : wqe.places) {
    world.posted_receives.erase(reinterpret_cast<uint64_t>(memory_of(hca, place)));
  }
}

int post(World& world, Hca& hca, RecvQueue& queue, ibv_recv_wr* wr) {
  if (wr->num_sge < 0 || static_cast<uint32_t>(wr->num_sge) > queue.places_max) return EINVAL;
  if (queue.held == queue.depth) return ENOMEM;
  ++queue.held;
  ++hca.counters.receive_wrs;
  queue.posted.push_back({wr->wr_id, {wr->sg_list, wr->sg_list + wr->num_sge}});
  for (const ibv_sge& place : queue.posted.back().places) claim(world, hca, place);
  return 0;
}

int post_all(World& world, Hca& hca, RecvQueue& queue, ibv_recv_wr* first, ibv_recv_wr** bad) {
  ++hca.counters.receive_posts;
  for (; first != nullptr; first = first->next) {
    if (const int error = post(world, hca, queue, first)) {
      *bad = first;
      return error;
    }
  }
  return 0;
}

}  // namespace

bool take_receive(World& world, Qp& qp, RecvWqe& out) {
  RecvQueue& queue = qp.receive_queue();
  if (queue.posted.empty()) return false;
  out = std::move(queue.posted.front());
  queue.posted.pop_front();
  unclaim(world, *qp.hca, out);
  auto* srq = static_cast<Srq*>(qp.srq);
  if (srq != nullptr && queue.posted.size() < srq->limit) {
    srq->limit = 0;
    raise(IBV_EVENT_SRQ_LIMIT_REACHED, *srq);
  }
  return true;
}

void forget_receives(World& world, const Hca& hca, RecvQueue& queue) {
  for (const RecvWqe& wqe : queue.posted) unclaim(world, hca, wqe);
  queue.posted.clear();
}

ibv_wc_status scatter(const Qp& qp, const std::vector<ibv_sge>& places, const std::byte* data,
                      uint64_t bytes) {
  for (const ibv_sge& place : places) {
    if (bytes == 0) return IBV_WC_SUCCESS;
    if (place.length == 0) continue;
    std::byte* memory = local_memory(qp, place, IBV_ACCESS_LOCAL_WRITE);
    if (memory == nullptr) return IBV_WC_LOC_PROT_ERR;
    const uint64_t count = std::min<uint64_t>(place.length, bytes);
    device_copy(memory, data, count);
    data += count;
    bytes -= count;
  }
  return bytes == 0 ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR;
}

int post_recv(ibv_qp* base, ibv_recv_wr* first, ibv_recv_wr** bad) {
  Locked lock;
  auto& qp = static_cast<Qp&>(*base);
  *bad = first;
  if (const int error = lock->fault(Call::kPostRecv)) return error;
  if (qp.srq != nullptr || qp.state == IBV_QPS_RESET) return EINVAL;
  return post_all(*lock, *qp.hca, qp.receives, first, bad);
}

int post_srq_recv(ibv_srq* base, ibv_recv_wr* first, ibv_recv_wr** bad) {
  Locked lock;
  *bad = first;
  if (const int error = lock->fault(Call::kPostSrqRecv)) return error;
  return post_all(*lock, hca_of(base->context), static_cast<Srq*>(base)->queue, first, bad);
}

}  // namespace pinwire::fake_verbs

// A tick: each queue pair with work gets a turn, in an order of the seed.
#include <algorithm>

#include "core/base/hash.h"
#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

bool has_work(const Qp& qp) {
  if (qp.hca->health == Health::kDead) return false;
  return !qp.sends.empty() || (qp.state == IBV_QPS_ERR && !qp.receives.posted.empty());
}

bool is_read(const SendWqe& wqe) {
  return wqe.wr.opcode == IBV_WR_RDMA_READ || wqe.wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
         wqe.wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/// The answer of a read or atomic comes; a source that was sent from memory is compared.
ibv_wc_status finish(World& world, Qp& qp, SendWqe& wqe) {
  if (wqe.status != IBV_WC_SUCCESS) return wqe.status;
  if (is_read(wqe)) {
    if (wqe.late_source != nullptr) {
      device_copy(wqe.result.data(), wqe.late_source, wqe.result.size());
    }
    return scatter(qp, wqe.places, wqe.result.data(), wqe.result.size());
  }
  if (wqe.late_goal != nullptr) device_copy(wqe.late_goal, wqe.result.data(), wqe.result.size());
  std::vector<std::byte> now;
  if (world.strictness.stable_sources && gather(qp, wqe, now) == IBV_WC_SUCCESS &&
      hash_more(kHashStart, now.data(), now.size()) != wqe.source_hash) {
    world.violation("the source of wr_id " + std::to_string(wqe.wr.wr_id) + " on " + qp.hca->name +
                    " qp " + std::to_string(qp.qp_num) + " changed before its completion");
  }
  return IBV_WC_SUCCESS;
}

void complete_what_is_acknowledged(World& world, Qp& qp) {
  while (qp.executed > 0 && qp.sends.front().acked_at <= world.now) {
    const ibv_wc_status status = finish(world, qp, qp.sends.front());
    complete_send(world, qp, qp.sends.front(), status);
    qp.sends.pop_front();
    --qp.executed;
    if (status != IBV_WC_SUCCESS) return to_error(world, qp);
  }
}

/// May the next one leave, or does it wait for reads before it?
bool must_wait(const Qp& qp, const SendWqe& wqe) {
  const uint32_t reads = reads_under_way(qp);
  if ((wqe.wr.send_flags & IBV_SEND_FENCE) != 0 && reads > 0) return true;
  return is_read(wqe) && qp.attr.max_rd_atomic > 0 && reads >= qp.attr.max_rd_atomic;
}

void note_executed(World& world, Qp& qp, SendWqe& wqe, ibv_wc_status status) {
  wqe.status = status;
  wqe.is_executed = true;
  wqe.acked_at =
      std::max(qp.last_ack_at, world.now + 1 + world.random.below(world.timing.ack_max + 1));
  qp.last_ack_at = wqe.acked_at;
  qp.is_stopped = status != IBV_WC_SUCCESS;
  qp.tries_left = qp.attr.retry_cnt;
  qp.rnr_tries_left = qp.attr.rnr_retry;
  ++qp.executed;
}

/// A try that failed: waits for the next one, or gives up.
void try_again(World& world, Qp& qp, SendWqe& wqe, bool is_lost) {
  constexpr uint32_t kForEver = 7;
  uint32_t& left = is_lost ? qp.tries_left : qp.rnr_tries_left;
  const bool is_endless = is_lost ? qp.attr.timeout == 0 : qp.attr.rnr_retry == kForEver;
  if (left == 0 && !is_endless) {
    return note_executed(world, qp, wqe, is_lost ? IBV_WC_RETRY_EXC_ERR : IBV_WC_RNR_RETRY_EXC_ERR);
  }
  if (!is_endless) --left;
  qp.ready_at = world.now + (is_lost ? world.timing.timeout_ticks : world.timing.rnr_ticks);
}

void send_some(World& world, Qp& qp) {
  for (uint64_t left = 1 + world.random.below(std::max(1u, world.timing.burst_max)); left > 0;
       --left) {
    if (qp.state != IBV_QPS_RTS || qp.is_stopped || qp.executed == qp.sends.size()) return;
    if (world.now < qp.ready_at) return;
    SendWqe& wqe = qp.sends[qp.executed];
    if (must_wait(qp, wqe)) return;
    const Attempt tried = attempt(world, qp, wqe);
    switch (tried.outcome) {
      case Outcome::kDone:
        note_executed(world, qp, wqe, tried.status);
        break;
      case Outcome::kLost:
        ++qp.hca->counters.lost;
        return try_again(world, qp, wqe, true);
      case Outcome::kNotReady:
        return try_again(world, qp, wqe, false);
    }
  }
  qp.ready_at = world.now + world.random.below(world.timing.delay_max + 1);
}

}  // namespace

void tick(World& world) {
  ++world.now;
  std::vector<Qp*> turns;
  for (auto& [handle, qp] : world.qps) {
    if (has_work(*qp)) turns.push_back(qp.get());
  }
  for (size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[world.random.below(i)]);
  for (Qp* qp : turns) {
    if (qp->state == IBV_QPS_ERR) {
      flush(world, *qp);
      continue;
    }
    complete_what_is_acknowledged(world, *qp);
    send_some(world, *qp);
  }
}

uint32_t reads_under_way(const Qp& qp) {
  uint32_t count = 0;
  for (size_t i = 0; i < qp.executed; ++i) count += is_read(qp.sends[i]) ? 1 : 0;
  return count;
}

bool is_quiet(const World& world) {
  return std::none_of(world.qps.begin(), world.qps.end(),
                      [](const auto& entry) { return has_work(*entry.second); });
}

}  // namespace pinwire::fake_verbs

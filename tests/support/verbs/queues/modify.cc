// The states of a queue pair and the attributes that each change of them needs (IBA 11.2.5.2, table
// 91), checked as the kernel checks them.
#include "tests/support/verbs/engine.h"

namespace pinwire::fake_verbs {
namespace {

struct Change {
  ibv_qp_type type;
  ibv_qp_state from;
  ibv_qp_state to;
  int required;
  int optional;
};

constexpr int kRtrOfRc = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRtsOfRc =
    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kInitOfRc = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kInitOfUd = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

constexpr Change kChanges[] = {
    {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kInitOfRc, 0},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0, kInitOfRc},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, kRtrOfRc, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRtsOfRc,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, kInitOfUd, 0},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, kInitOfUd},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
};

bool is_allowed(const Qp& qp, ibv_qp_state to, int mask) {
  const int given = mask & ~IBV_QP_STATE;
  if (to == IBV_QPS_RESET) return given == 0;
  if (to == IBV_QPS_ERR) return given == 0 && qp.state != IBV_QPS_RESET;
  for (const Change& change : kChanges) {
    if (change.type != qp.qp_type || change.from != qp.state || change.to != to) continue;
    return (given & change.required) == change.required &&
           (given & ~(change.required | change.optional)) == 0;
  }
  return false;
}

bool is_route_valid(Hca& hca, const Qp& qp, const ibv_ah_attr& ah) {
  if (ah.port_num != qp.attr.port_num) return false;
  return is_address_valid(hca, ah);
}

bool are_values_valid(Qp& qp, const ibv_qp_attr& attr, int mask) {
  const ibv_device_attr& limits = qp.hca->spec.limits;
  const auto given = [&](int bit) { return (mask & bit) != 0; };
  const Port* port = qp.hca->port(given(IBV_QP_PORT) ? attr.port_num : qp.attr.port_num);
  constexpr uint32_t kPsnMax = 0xffffff;
  constexpr uint32_t kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                               IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  if (port == nullptr) return false;
  if (given(IBV_QP_PKEY_INDEX) && attr.pkey_index >= port->spec.pkeys.size()) return false;
  if (given(IBV_QP_ACCESS_FLAGS) && (attr.qp_access_flags & ~kAccess) != 0) return false;
  if (given(IBV_QP_PATH_MTU) &&
      (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > port->spec.facts.active_mtu)) {
    return false;
  }
  if (given(IBV_QP_AV) && !is_route_valid(*qp.hca, qp, attr.ah_attr)) return false;
  if (given(IBV_QP_DEST_QPN) && attr.dest_qp_num > kPsnMax) return false;
  if (given(IBV_QP_RQ_PSN) && attr.rq_psn > kPsnMax) return false;
  if (given(IBV_QP_SQ_PSN) && attr.sq_psn > kPsnMax) return false;
  if (given(IBV_QP_MAX_DEST_RD_ATOMIC) && attr.max_dest_rd_atomic > limits.max_qp_rd_atom) {
    return false;
  }
  if (given(IBV_QP_MAX_QP_RD_ATOMIC) && attr.max_rd_atomic > limits.max_qp_init_rd_atom) {
    return false;
  }
  if (given(IBV_QP_TIMEOUT) && attr.timeout > 31) return false;
  if (given(IBV_QP_RETRY_CNT) && attr.retry_cnt > 7) return false;
  if (given(IBV_QP_RNR_RETRY) && attr.rnr_retry > 7) return false;
  return !given(IBV_QP_MIN_RNR_TIMER) || attr.min_rnr_timer <= 31;
}

/// Only what the mask names is read: the rest of the caller's struct may be anything.
void store(ibv_qp_attr& mine, const ibv_qp_attr& attr, int mask) {
  const auto take = [&](int bit, auto member) {
    if ((mask & bit) != 0) mine.*member = attr.*member;
  };
  take(IBV_QP_PORT, &ibv_qp_attr::port_num);
  take(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
  take(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
  take(IBV_QP_QKEY, &ibv_qp_attr::qkey);
  take(IBV_QP_AV, &ibv_qp_attr::ah_attr);
  take(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
  take(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
  take(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
  take(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
  take(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
  take(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
  take(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
  take(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
  take(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
}

}  // namespace
}  // namespace pinwire::fake_verbs

using namespace pinwire::fake_verbs;

extern "C" int ibv_modify_qp(ibv_qp* base, ibv_qp_attr* attr, int mask) {
  Locked lock;
  auto& qp = static_cast<Qp&>(*base);
  if (const int error = lock->fault(Call::kModifyQp)) return error;
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attr->qp_state : qp.state;
  if ((mask & IBV_QP_CUR_STATE) != 0 && attr->cur_qp_state != qp.state) return EINVAL;
  const bool is_end = to == IBV_QPS_RESET || to == IBV_QPS_ERR;
  if (!is_end && qp.hca->health == Health::kFatal) return EIO;
  if (!is_allowed(qp, to, mask)) return EINVAL;
  if (to == IBV_QPS_ERR) {
    to_error(*lock, qp);
    return 0;
  }
  if (to == IBV_QPS_RESET) {
    reset_queues(*lock, qp);
    qp.state = to;
    return 0;
  }
  if (!are_values_valid(qp, *attr, mask)) return EINVAL;
  store(qp.attr, *attr, mask);
  qp.state = to;
  qp.tries_left = qp.attr.retry_cnt;
  qp.rnr_tries_left = qp.attr.rnr_retry;
  return 0;
}

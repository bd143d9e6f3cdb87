#include "driver/verbs/peer/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/check.h"
#include "driver/verbs/peer/address_vector.h"

namespace pinwire::verbs {
namespace {

/// 0.06 ms (IBA table 45): how long a sender whose message found no buffer leaves the receiver in
/// peace. Credits make it rare.
constexpr uint8_t kRnrTimer = 5;
/// For ever: a receiver may compute for as long as it likes.
constexpr uint8_t kRnrRetry = 7;
constexpr int kReadsMax = 16;

Status to_init(const Device& device, ibv_qp* queue) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = device.port;
  attr.pkey_index = device.pkey_index;
  attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (device.has_atomics()) attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  const int failed = ibv_modify_qp(
      queue, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (failed != 0) {
    return error("%s: a queue pair cannot be initialised: %s", device.name.c_str(),
                 std::strerror(failed));
  }
  return success();
}

ibv_qp_attr ready_to_receive(const Device& device, const Remote& remote) noexcept {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = std::min(device.port_facts.active_mtu, static_cast<ibv_mtu>(remote.mtu));
  attr.dest_qp_num = remote.queue_pair;
  attr.rq_psn = remote.psn;
  attr.max_dest_rd_atomic = reads_max(device);
  attr.min_rnr_timer = kRnrTimer;
  attr.ah_attr = address_vector(device, remote.lid, remote.gid);
  return attr;
}

}  // namespace

uint8_t reads_max(const Device& device) noexcept {
  return static_cast<uint8_t>(std::clamp(device.limits.max_qp_rd_atom, 1, kReadsMax));
}

Result<QueuePair> make_queue_pair(const Device& device, const Queues& queues, QueueSizes& sizes) {
  check(sizes.send_depth != 0, "a queue pair that sends nothing");
  // The device may refuse to inline as much as was asked for: less, then.
  for (uint32_t inline_bytes = sizes.inline_bytes;; inline_bytes /= 2) {
    ibv_qp_init_attr init{};
    init.send_cq = queues.send;
    init.recv_cq = queues.receive;
    init.srq = queues.shared;
    init.qp_type = IBV_QPT_RC;
    init.cap.max_send_wr = sizes.send_depth;
    init.cap.max_send_sge = kSendPiecesMax;
    if (queues.shared == nullptr) {
      init.cap.max_recv_wr = queues.receive_depth;
      init.cap.max_recv_sge = 1;
    }
    init.cap.max_inline_data = inline_bytes;
    QueuePair queue(ibv_create_qp(queues.domain, &init));
    if (queue) {
      sizes.inline_bytes = init.cap.max_inline_data;
      if (auto done = to_init(device, queue.get()); !done) return done.error();
      return queue;
    }
    if (inline_bytes == 0) {
      return error(
          "%s: a queue pair of %u sends cannot be made: %s (the device has %d queue pairs of up to "
          "%d; lower GASNET_NETWORKDEPTH or GASNET_LANES)",
          device.name.c_str(), sizes.send_depth, std::strerror(errno), device.limits.max_qp,
          device.limits.max_qp_wr);
    }
  }
}

Status connect_queue_pair(const Device& device, ibv_qp* queue, const Remote& remote,
                          uint32_t own_psn, const Patience& patience) {
  constexpr uint32_t kPsnMax = 0xffffff, kTimeoutMax = 31, kRetriesMax = 7;  // IBA 9.7, 11.2.4.2
  check(own_psn <= kPsnMax, "a packet number has 24 bits", own_psn);
  check(remote.psn <= kPsnMax, "a packet number has 24 bits", remote.psn);
  check(patience.timeout <= kTimeoutMax, "a timeout has 5 bits", patience.timeout);
  check(patience.retry_count <= kRetriesMax, "a retry count has 3 bits", patience.retry_count);
  ibv_qp_attr attr = ready_to_receive(device, remote);
  int failed = ibv_modify_qp(queue, &attr,
                             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (failed != 0) {
    return error(
        "%s: no way to the peer's address: %s. Both must use addresses that reach each other: "
        "GASNET_GID and GASNET_VERBS_DEVICE choose",
        device.describe().c_str(), std::strerror(failed));
  }
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = static_cast<uint8_t>(patience.timeout);
  attr.retry_cnt = static_cast<uint8_t>(patience.retry_count);
  attr.rnr_retry = kRnrRetry;
  attr.sq_psn = own_psn;
  attr.max_rd_atomic = static_cast<uint8_t>(
      std::clamp(device.limits.max_qp_init_rd_atom, 1, int{reads_max(device)}));
  failed = ibv_modify_qp(queue, &attr,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (failed != 0) {
    return error("%s: a queue pair does not become ready to send: %s", device.name.c_str(),
                 std::strerror(failed));
  }
  return success();
}

}  // namespace pinwire::verbs

#include "tests/unit/support/verbs/endpoint.h"

#include <fcntl.h>

#include <cstring>

namespace pinwire::fake_verbs {

ibv_context* open_by_name(const std::string& name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ibv_context* context = nullptr;
  for (int i = 0; i < count; ++i) {
    if (name == ibv_get_device_name(list[i])) context = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  return context;
}

Endpoint::Endpoint(const std::string& device, const EndpointOptions& its_options)
    : options(its_options) {
  context = open_by_name(device);
  fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
  pd = ibv_alloc_pd(context);
  mr = ibv_reg_mr(pd, memory.data(), memory.size(), options.access);
  if (options.has_channel) {
    channel = ibv_create_comp_channel(context);
    fcntl(channel->fd, F_SETFL, O_NONBLOCK);
  }
  cq = ibv_create_cq(context, options.completion_depth, this, channel, 0);
  ibv_qp_init_attr init{};
  if (options.is_shared) {
    ibv_srq_init_attr shared{};
    shared.attr = {options.receive_depth, 1, 0};
    srq = ibv_create_srq(pd, &shared);
  }
  init.send_cq = init.recv_cq = cq;
  init.srq = srq;
  init.qp_type = options.type;
  init.sq_sig_all = options.signals_all ? 1 : 0;
  init.cap = {options.send_depth, options.receive_depth, 2, 1, options.inline_bytes};
  qp = ibv_create_qp(pd, &init);
  EXPECT_NE(qp, nullptr);
}

Endpoint::~Endpoint() {
  if (qp != nullptr) {
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
  }
  if (srq != nullptr) {
    EXPECT_EQ(ibv_destroy_srq(srq), 0);
  }
  if (cq != nullptr) {
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
  }
  if (channel != nullptr) {
    EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
  }
  if (mr != nullptr) {
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
  }
  if (pd != nullptr) {
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  }
  EXPECT_EQ(ibv_close_device(context), 0);
}

ibv_gid Endpoint::gid() const {
  ibv_gid gid{};
  EXPECT_EQ(ibv_query_gid(context, 1, static_cast<int>(options.gid_index), &gid), 0);
  return gid;
}

ibv_sge Endpoint::place(uint64_t offset, uint32_t bytes) const {
  return {address(offset), bytes, mr->lkey};
}

int Endpoint::to_init() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = kQkey;
  attr.qp_access_flags = static_cast<unsigned int>(options.access);
  const int last = options.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | last);
}

int Endpoint::to_rtr(const Endpoint& peer) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  if (options.type == IBV_QPT_UD) return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
  ibv_port_attr port{};
  EXPECT_EQ(ibv_query_port(peer.context, 1, &port), 0);
  attr.path_mtu = port.active_mtu;
  attr.dest_qp_num = peer.qp->qp_num;
  attr.rq_psn = peer.psn();
  attr.max_dest_rd_atomic = 4;
  attr.min_rnr_timer = 5;
  attr.ah_attr.dlid = port.lid;
  attr.ah_attr.port_num = 1;
  if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.dgid = peer.gid();
    attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(options.gid_index);
  }
  return ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int Endpoint::to_rts() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = psn();
  if (options.type == IBV_QPT_UD) return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
  attr.timeout = 14;
  attr.retry_cnt = 3;
  attr.rnr_retry = 7;
  attr.max_rd_atomic = 4;
  return ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

int Endpoint::connect(const Endpoint& peer) {
  if (const int error = to_init()) return error;
  if (const int error = to_rtr(peer)) return error;
  return to_rts();
}

ibv_send_wr Endpoint::request(ibv_wr_opcode opcode, uint64_t offset, uint32_t bytes,
                              const Endpoint& peer, uint64_t remote_offset) {
  ibv_send_wr wr{};
  places[0] = place(offset, bytes);
  wr.sg_list = places.data();
  wr.num_sge = 1;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
    wr.wr.atomic.remote_addr = peer.address(remote_offset);
    wr.wr.atomic.rkey = peer.mr->rkey;
  } else {
    wr.wr.rdma.remote_addr = peer.address(remote_offset);
    wr.wr.rdma.rkey = peer.mr->rkey;
  }
  return wr;
}

int Endpoint::post(ibv_send_wr wr) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp, &wr, &bad);
}

int Endpoint::post_receive(uint64_t wr_id, uint64_t offset, uint32_t bytes) {
  ibv_sge where = place(offset, bytes);
  ibv_recv_wr wr{wr_id, nullptr, &where, 1};
  ibv_recv_wr* bad = nullptr;
  return srq != nullptr ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad);
}

std::vector<ibv_wc> Endpoint::poll(int polls) {
  std::vector<ibv_wc> all;
  for (int i = 0; i < polls; ++i) {
    ibv_wc wc{};
    if (ibv_poll_cq(cq, 1, &wc) == 1) all.push_back(wc);
  }
  return all;
}

std::vector<ibv_event_type> Endpoint::events() {
  std::vector<ibv_event_type> types;
  ibv_async_event event{};
  while (ibv_get_async_event(context, &event) == 0) {
    types.push_back(event.event_type);
    ibv_ack_async_event(&event);
  }
  return types;
}

}  // namespace pinwire::fake_verbs

#include "driver/verbs/connect/datagrams.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "driver/verbs/peer/address_vector.h"

namespace pinwire::verbs {

Result<bool> Datagrams::open(const Device& device, uint32_t key) {
  check(!is_open(), "datagrams are opened twice");
  device_ = &device;
  key_ = key;
  const char* name = device.name.c_str();
  receives_ = std::min({kReceivesMax, static_cast<uint32_t>(device.limits.max_qp_wr),
                        static_cast<uint32_t>(device.limits.max_cqe) - kSends});
  channel_.reset(ibv_create_comp_channel(device.context.get()));
  if (!channel_ || fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0) {
    return error("%s: no completion channel for datagrams: %s", name, std::strerror(errno));
  }
  completions_.reset(ibv_create_cq(device.context.get(), static_cast<int>(kSends + receives_),
                                   nullptr, channel_.get(), 0));
  if (!completions_) {
    return error("%s: no completion queue for datagrams: %s", name, std::strerror(errno));
  }
  auto made = buffers_.open(device, kSends + receives_, kBufferBytes, "greetings");
  if (!made) return made.error();
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = completions_.get();
  init.qp_type = IBV_QPT_UD;
  init.cap.max_send_wr = kSends;
  init.cap.max_recv_wr = receives_;
  init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  queue_.reset(ibv_create_qp(device.pd.get(), &init));
  if (!queue_ && errno == EOPNOTSUPP) {
    close();
    return false;
  }
  if (!queue_) {
    return error("%s: no queue pair for datagrams: %s (the device has %d)", name,
                 std::strerror(errno), device.limits.max_qp);
  }
  if (auto done = ready(key); !done) return done.error();
  return true;
}

Status Datagrams::ready(uint32_t key) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = device_->port;
  attr.pkey_index = device_->pkey_index;
  attr.qkey = key;
  int failed = ibv_modify_qp(queue_.get(), &attr,
                             IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  attr.qp_state = IBV_QPS_RTR;
  if (failed == 0) failed = ibv_modify_qp(queue_.get(), &attr, IBV_QP_STATE);
  attr.qp_state = IBV_QPS_RTS;
  if (failed == 0) failed = ibv_modify_qp(queue_.get(), &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
  if (failed != 0) {
    return error("%s: its queue pair for datagrams does not become ready: %s",
                 device_->name.c_str(), std::strerror(failed));
  }
  handles_.resize(kSends);
  for (uint32_t i = 0; i < kSends; ++i) free_sends_.push_back(i);
  for (uint32_t i = 0; i < receives_; ++i) post_receive(kSends + i);
  arm();
  return success();
}

void Datagrams::close() noexcept {
  queue_.reset();
  handles_.clear();
  completions_.reset();
  channel_.reset();
  buffers_ = {};
}

void Datagrams::post_receive(uint32_t buffer) noexcept {
  check(buffer >= kSends, "a buffer of sends is posted to receive", buffer);
  ibv_sge place{reinterpret_cast<uint64_t>(buffers_.at(buffer)), kBufferBytes,
                buffers_.local_key()};
  ibv_recv_wr request{buffer, nullptr, &place, 1};
  ibv_recv_wr* refused = nullptr;
  // A device that fails refuses it; its event, or the greetings that never come, tell.
  (void)ibv_post_recv(queue_.get(), &request, &refused);
}

bool Datagrams::send(const Place& to, std::span<const std::byte> bytes) noexcept {
  dcheck(bytes.size() <= kBytesMax, "a datagram too long", bytes.size());
  if (free_sends_.empty()) return false;
  ibv_ah_attr way = address_vector(*device_, to.lid, to.gid);
  Owned<ibv_ah, ibv_destroy_ah> handle(ibv_create_ah(device_->pd.get(), &way));
  if (!handle) return false;
  const uint32_t buffer = free_sends_.back();
  check(buffer < kSends, "a datagram leaves from a buffer of receives", buffer);
  std::memcpy(buffers_.at(buffer), bytes.data(), bytes.size());
  ibv_sge place{reinterpret_cast<uint64_t>(buffers_.at(buffer)),
                static_cast<uint32_t>(bytes.size()), buffers_.local_key()};
  ibv_send_wr request{};
  request.wr_id = buffer;
  request.sg_list = &place;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud.ah = handle.get();
  request.wr.ud.remote_qpn = to.datagram_queue;
  request.wr.ud.remote_qkey = key_;
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(queue_.get(), &request, &refused) != 0) return false;
  free_sends_.pop_back();
  handles_[buffer] = std::move(handle);
  return true;
}

std::optional<Datagrams::Arrival> Datagrams::receive() noexcept {
  if (held_) post_receive(*held_);
  held_.reset();
  ibv_wc found;
  while (ibv_poll_cq(completions_.get(), 1, &found) == 1) {
    const auto buffer = static_cast<uint32_t>(found.wr_id);
    if (buffer < kSends) {
      handles_[buffer].reset();
      free_sends_.push_back(buffer);
      continue;
    }
    if (found.status != IBV_WC_SUCCESS) continue;  // flushed: the device fails
    held_ = buffer;
    if (found.byte_len < kHeaderBytes || found.byte_len > kBufferBytes) return Arrival{0, {}};
    return Arrival{found.src_qp,
                   {buffers_.at(buffer) + kHeaderBytes, found.byte_len - kHeaderBytes}};
  }
  return std::nullopt;
}

void Datagrams::arm() noexcept {
  ibv_cq* source = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_.get(), &source, &context) == 0) ibv_ack_cq_events(source, 1);
  (void)ibv_req_notify_cq(completions_.get(), 0);
}

}  // namespace pinwire::verbs

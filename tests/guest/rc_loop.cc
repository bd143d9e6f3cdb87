// Two processes on an RDMA device: reliable connections that write, read, count, swap and send,
// each into the other's memory at the same time. rc_loop RANK ADDRESS-OF-RANK-0 ROUNDS
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "tests/guest/tcp_peer.h"

namespace {

constexpr uint32_t kBytesMax = 16384;  // several packets
constexpr int kIpv4Gid = 1;
constexpr int kQueueDepth = 16;
constexpr int kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC;

int rank = -1;
uint64_t round_number = 0;
const char* doing = "opening";

/// `what` holds, or this process ends with all that it knows.
void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "rc_loop: rank %d, round %llu, %s: %s (errno: %s)\n", rank,
               static_cast<unsigned long long>(round_number), doing, what, std::strerror(errno));
  std::exit(1);
}

struct Memory {
  std::array<unsigned char, kBytesMax> inbox;   ///< the peer writes here
  std::array<unsigned char, kBytesMax> outbox;  ///< what is written there
  std::array<unsigned char, kBytesMax> echo;    ///< and read back
  alignas(8) uint64_t counter;                  ///< the peer's to add to and to swap
  uint64_t fetched;
  uint64_t sent;
  uint64_t received;
};

struct Address {
  uint64_t memory;
  uint32_t key;
  uint32_t queue_pair;
  ibv_gid gid;
};

class Connection {
 public:
  Connection();
  void connect(const Address& peer);
  Address address() const {
    return {reinterpret_cast<uint64_t>(&memory_), region_->rkey, queue_pair_->qp_num, gid_};
  }
  Memory& memory() { return memory_; }

  void post(ibv_send_wr work, void* local, uint32_t bytes) {
    ibv_sge piece{reinterpret_cast<uint64_t>(local), bytes, region_->lkey};
    work.sg_list = &piece;
    work.num_sge = 1;
    work.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    expect(ibv_post_send(queue_pair_, &work, &bad) == 0, "ibv_post_send");
    finish(sends_);
  }
  /// `offset` in the peer's Memory.
  void put_or_get(ibv_wr_opcode what, void* local, uint32_t bytes, size_t offset) {
    ibv_send_wr work{};
    work.opcode = what;
    work.wr.rdma = {peer_.memory + offset, peer_.key};
    post(work, local, bytes);
  }
  uint64_t atomic(ibv_wr_opcode what, uint64_t first, uint64_t second) {
    ibv_send_wr work{};
    work.opcode = what;
    work.wr.atomic = {peer_.memory + offsetof(Memory, counter), first, second, peer_.key};
    post(work, &memory_.fetched, sizeof memory_.fetched);
    return memory_.fetched;
  }
  void expect_message() {
    ibv_sge piece{reinterpret_cast<uint64_t>(&memory_.received), sizeof memory_.received,
                  region_->lkey};
    ibv_recv_wr work{};
    work.sg_list = &piece;
    work.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    expect(ibv_post_recv(queue_pair_, &work, &bad) == 0, "ibv_post_recv");
  }
  void wait_for_message() { finish(receives_); }

 private:
  static void finish(ibv_cq* queue) {
    ibv_wc done;
    int count = 0;
    while ((count = ibv_poll_cq(queue, 1, &done)) == 0) {
    }
    expect(count == 1, "ibv_poll_cq");
    expect(done.status == IBV_WC_SUCCESS, ibv_wc_status_str(done.status));
  }
  void go_to(ibv_qp_state state, ibv_qp_attr attributes, int mask) {
    attributes.qp_state = state;
    expect(ibv_modify_qp(queue_pair_, &attributes, mask | IBV_QP_STATE) == 0, "ibv_modify_qp");
  }

  Memory memory_{};
  Address peer_{};
  ibv_gid gid_{};
  ibv_context* device_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_cq* sends_ = nullptr;
  ibv_cq* receives_ = nullptr;
  ibv_qp* queue_pair_ = nullptr;
};

Connection::Connection() {
  int count = 0;
  ibv_device** devices = ibv_get_device_list(&count);
  expect(devices != nullptr && count > 0, "there is no RDMA device");
  device_ = ibv_open_device(devices[0]);
  expect(device_ != nullptr && ibv_query_gid(device_, 1, kIpv4Gid, &gid_) == 0, "no IPv4 GID");
  ibv_pd* domain = ibv_alloc_pd(device_);
  region_ = ibv_reg_mr(domain, &memory_, sizeof memory_, kRights);
  sends_ = ibv_create_cq(device_, kQueueDepth, nullptr, nullptr, 0);
  receives_ = ibv_create_cq(device_, kQueueDepth, nullptr, nullptr, 0);
  expect(region_ != nullptr && sends_ != nullptr && receives_ != nullptr, "no region or queues");
  ibv_qp_init_attr wish{};
  wish.send_cq = sends_;
  wish.recv_cq = receives_;
  wish.qp_type = IBV_QPT_RC;
  wish.cap = {kQueueDepth, kQueueDepth, 1, 1, 0};
  queue_pair_ = ibv_create_qp(domain, &wish);
  expect(queue_pair_ != nullptr, "ibv_create_qp");
}

void Connection::connect(const Address& peer) {
  doing = "connecting";
  peer_ = peer;
  ibv_qp_attr start{};
  start.port_num = 1;
  start.qp_access_flags = kRights;
  go_to(IBV_QPS_INIT, start, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  ibv_qp_attr receive{};
  receive.path_mtu = IBV_MTU_4096;
  receive.dest_qp_num = peer.queue_pair;
  receive.max_dest_rd_atomic = 1;
  receive.min_rnr_timer = 1;
  receive.ah_attr.is_global = 1;
  receive.ah_attr.port_num = 1;
  receive.ah_attr.grh.dgid = peer.gid;
  receive.ah_attr.grh.sgid_index = kIpv4Gid;
  receive.ah_attr.grh.hop_limit = 64;
  go_to(IBV_QPS_RTR, receive,
        IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
            IBV_QP_MIN_RNR_TIMER);
  ibv_qp_attr send{};
  // 4 s: the peer's CPU is emulated, and rxe (Linux 6.1) reads a wrong address the second time that
  // it repeats a read.
  send.timeout = 20;
  send.retry_cnt = 6;  // 7 would be for ever in rxe
  send.rnr_retry = 7;
  send.max_rd_atomic = 1;
  go_to(IBV_QPS_RTS, send,
        IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
            IBV_QP_MAX_QP_RD_ATOMIC);
}

/// Alone with the peer's inbox and counter.
void round_trip(Connection& peer, uint64_t round, uint32_t bytes) {
  round_number = round;
  Memory& memory = peer.memory();
  for (uint32_t i = 0; i < bytes; ++i)
    memory.outbox[i] = static_cast<unsigned char>(i * 7 + round * 13 + static_cast<uint32_t>(rank));
  doing = "write";
  peer.put_or_get(IBV_WR_RDMA_WRITE, memory.outbox.data(), bytes, offsetof(Memory, inbox));
  doing = "read";
  peer.put_or_get(IBV_WR_RDMA_READ, memory.echo.data(), bytes, offsetof(Memory, inbox));
  expect(std::memcmp(memory.outbox.data(), memory.echo.data(), bytes) == 0,
         "what was written is not read");
  const uint64_t before = 3 * round;
  doing = "atomic";
  expect(peer.atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0) == before, "fetch-add");
  expect(peer.atomic(IBV_WR_ATOMIC_CMP_AND_SWP, before + 2, before + 3) == before + 2, "swap");
  expect(peer.atomic(IBV_WR_ATOMIC_CMP_AND_SWP, before + 2, 0) == before + 3,
         "a swap that must not happen");
  memory.sent = round;
  doing = "message";
  ibv_send_wr message{};
  message.opcode = IBV_WR_SEND;
  peer.post(message, &memory.sent, sizeof memory.sent);
  peer.wait_for_message();
  expect(memory.received == round, "messages are out of order");
  peer.expect_message();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: rc_loop RANK ADDRESS-OF-RANK-0 ROUNDS\n");
    return 2;
  }
  rank = std::atoi(argv[1]);
  const auto rounds = static_cast<uint64_t>(std::atoll(argv[3]));
  pinwire::test::TcpPeer meeting(static_cast<uint32_t>(rank), argv[2]);
  static Connection connection;
  connection.connect(meeting.exchange(connection.address()));
  connection.expect_message();
  meeting.exchange(rank);
  constexpr std::array<uint32_t, 4> kSizes{1, 8, 4096, kBytesMax};
  for (uint64_t round = 0; round < rounds; ++round)
    round_trip(connection, round, kSizes[round % kSizes.size()]);
  meeting.exchange(rank);
  doing = "the end";
  expect(connection.memory().counter == 3 * rounds, "the peer's atomics are not all here");
  std::printf("rank %d: %llu rounds\n", rank, static_cast<unsigned long long>(rounds));
  return 0;
}

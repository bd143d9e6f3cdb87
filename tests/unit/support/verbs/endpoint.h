// One end of a connection over the fake: the code that a verbs program has, with its knobs open.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/verbs/fake_verbs.h"

namespace pinwire::fake_verbs {

struct EndpointOptions {
  ibv_qp_type type = IBV_QPT_RC;
  uint32_t send_depth = 64;
  uint32_t inline_bytes = 64;
  uint32_t receive_depth = 64;
  int completion_depth = 256;
  bool is_shared = true;  ///< receives through a shared queue
  bool signals_all = false;
  bool has_channel = false;
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
               IBV_ACCESS_REMOTE_ATOMIC;
  uint32_t gid_index = 0;
};

constexpr uint32_t kQkey = 0x1234;

class Endpoint {
 public:
  explicit Endpoint(const std::string& device, const EndpointOptions& options = {});
  ~Endpoint();

  /// 0, or the errno of the first change of state that failed.
  int connect(const Endpoint& peer);
  int to_init();
  int to_rtr(const Endpoint& peer);
  int to_rts();

  uint32_t psn() const { return 1000 + qp->qp_num; }
  ibv_gid gid() const;
  ibv_sge place(uint64_t offset, uint32_t bytes) const;
  uint64_t address(uint64_t offset) const { return reinterpret_cast<uint64_t>(&memory[offset]); }

  /// A work request on own memory; the address at the peer is the same offset there.
  ibv_send_wr request(ibv_wr_opcode opcode, uint64_t offset, uint32_t bytes, const Endpoint& peer,
                      uint64_t remote_offset = 0);
  int post(ibv_send_wr request);
  int post_receive(uint64_t wr_id, uint64_t offset, uint32_t bytes);
  /// Whatever completes in so many polls.
  std::vector<ibv_wc> poll(int polls = 200);
  std::vector<ibv_event_type> events();

  EndpointOptions options;
  alignas(64) std::array<unsigned char, 65536> memory{};
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_mr* mr = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_srq* srq = nullptr;
  ibv_qp* qp = nullptr;
  std::array<ibv_sge, 1> places;
};

ibv_context* open_by_name(const std::string& name);

/// Two devices, one end on each, connected.
struct Pair {
  explicit Pair(const EndpointOptions& options = {}, uint64_t seed = 1) : fabric(seed) {
    fabric.add(infiniband("hca0", 1));
    fabric.add(infiniband("hca1", 2));
    a = std::make_unique<Endpoint>("hca0", options);
    b = std::make_unique<Endpoint>("hca1", options);
    EXPECT_EQ(a->connect(*b), 0);
    EXPECT_EQ(b->connect(*a), 0);
  }
  Fabric fabric;
  std::unique_ptr<Endpoint> a;
  std::unique_ptr<Endpoint> b;
};

}  // namespace pinwire::fake_verbs

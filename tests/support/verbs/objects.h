// The objects behind the pointers that verbs hands out.
#pragma once

#include <infiniband/verbs.h>

#include <deque>
#include <map>
#include <vector>

#include "tests/support/verbs/event_file.h"
#include "tests/support/verbs/fake_verbs.h"

namespace pinwire::fake_verbs {

struct Context;
struct Qp;
struct RecvQueue;

struct Port {
  PortSpec spec;
  ibv_port_state state() const { return spec.facts.state; }
};

enum class Health : uint8_t { kWell, kFatal, kDead };

struct Mr;
struct Hca : ibv_device {
  HcaSpec spec;
  std::vector<Port> ports;
  Health health = Health::kWell;
  Counters counters;
  uint32_t next_qp_num = 0;
  std::vector<uint32_t> free_qp_nums;  ///< of queue pairs that were destroyed
  uint32_t connections = 0;            ///< that there are
  uint32_t connections_max = 0;        ///< that there were at once
  std::map<uint32_t, Mr*> by_local_key;
  std::map<uint32_t, Mr*> by_remote_key;
  std::map<uint32_t, Qp*> by_qp_num;
  uint32_t mrs = 0;
  ibv_wc_status next_status = IBV_WC_SUCCESS;  ///< of the next work request of a connection
  Port* port(uint32_t number) {
    return number == 0 || number > ports.size() ? nullptr : &ports[number - 1];
  }
};

struct Context : verbs_context {
  Hca* hca = nullptr;
  uint32_t handle = 0;
  uint32_t users = 0;  ///< objects that stand on this one; likewise below
  EventFile<ibv_async_event> events;
};
inline Context& context_of(ibv_context* context) {
  return static_cast<Context&>(*verbs_get_ctx(context));
}

struct Td : ibv_td {
  uint32_t handle = 0;
  uint32_t users = 0;
};

struct Pd : ibv_pd {
  uint32_t users = 0;
  Pd* base = nullptr;  ///< of a parent domain: the protection domain inside
  Td* td = nullptr;    ///< likewise, and the thread domain
};
/// The domain that counts for what may reach what.
inline const Pd* protection_of(const ibv_pd* pd) {
  const auto* mine = static_cast<const Pd*>(pd);
  return mine->base != nullptr ? mine->base : mine;
}

struct Mr : ibv_mr {
  uint64_t start = 0;  ///< as the device addresses it (iova)
  int access = 0;
  bool is_mapped = false;  ///< a dma-buf's, for the device alone
};

struct Cq;
struct Channel : ibv_comp_channel {
  uint32_t handle = 0;
  EventFile<Cq*> events;
};

struct Cqe {
  ibv_wc wc;
  Qp* qp;
  uint64_t send_index;  ///< of a send: work up to here gives its slots back
  RecvQueue* queue;     ///< of a receive; null for a send
};

enum class Arming : uint8_t { kNone, kSolicited, kNext };

struct Cq : ibv_cq {
  uint32_t users = 0;
  std::deque<Cqe> entries;
  Arming arming = Arming::kNone;
  uint32_t events_read = 0;
  uint32_t async_read = 0;
  bool is_overrun = false;
};

struct RecvWqe {
  uint64_t wr_id;
  std::vector<ibv_sge> places;
};

/// The receive queue of a queue pair, or one that many share.
struct RecvQueue {
  std::deque<RecvWqe> posted;
  uint32_t held = 0;  ///< slots: posted, or consumed and not yet polled
  uint32_t depth = 0;
  uint32_t places_max = 0;
};

struct Srq : ibv_srq {
  uint32_t users = 0;
  uint32_t limit = 0;
  uint32_t async_read = 0;
  RecvQueue queue;
};

struct Ah : ibv_ah {
  ibv_ah_attr attr;
};

struct SendWqe {
  ibv_send_wr wr;
  std::vector<ibv_sge> places;
  std::vector<std::byte> inline_data;
  ibv_ah_attr ah;  ///< of a datagram
  uint64_t index;
  uint32_t bytes;
  bool is_signalled;
  // Once it was executed at the peer:
  bool is_executed;
  ibv_wc_status status;
  uint64_t acked_at;
  uint64_t source_hash;
  std::vector<std::byte> result;  ///< of a read or an atomic
  const std::byte* late_source;   ///< of a read that fetches at its end
  std::byte* late_goal;           ///< of a write whose data, in `result`, come at its end
};

/// Data of a write that has completed.
struct UnplacedWrite {
  std::byte* goal;
  std::vector<std::byte> data;
};

struct Qp : ibv_qp {
  Hca* hca = nullptr;
  ibv_qp_attr attr{};
  bool signals_all = false;
  uint32_t async_read = 0;
  std::deque<SendWqe> sends;
  size_t executed = 0;  ///< of `sends`, from the front
  uint64_t posted = 0;
  uint64_t released = 0;
  uint64_t ready_at = 0;
  uint64_t last_ack_at = 0;
  uint32_t tries_left = 0;
  uint32_t rnr_tries_left = 0;
  bool is_stopped = false;  ///< the last executed one failed: nothing may follow
  bool is_established = false;
  std::vector<UnplacedWrite> unplaced;  ///< at the peer, until something else follows
  RecvQueue receives;
  RecvQueue& receive_queue() { return srq != nullptr ? static_cast<Srq*>(srq)->queue : receives; }
};

inline Hca& hca_of(ibv_context* context) { return *context_of(context).hca; }

}  // namespace pinwire::fake_verbs

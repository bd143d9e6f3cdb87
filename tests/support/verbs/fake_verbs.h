// An RDMA network inside one process, in the place of libibverbs: a unit test makes a Fabric, adds
// devices, and lets the code under test open them through <infiniband/verbs.h>. It is as strict as
// the specification allows (IBA 1.4 volume 1 chapters 9 to 11), because it is the judge: what real
// devices forgive by luck fails here.
//
// Nothing moves by itself: each ibv_poll_cq of anyone is a tick of the fabric, unless set_manual();
// run() and step() tick, too. A thread that sleeps on a completion channel needs someone who ticks.
// The seed decides which is next and what is late, so a run of one thread can be replayed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/verbs/device/specs.h"

namespace pinwire::fake_verbs {

/// In ticks. Work of one queue pair is never reordered.
struct Timing {
  uint32_t delay_max = 2;      ///< between two pieces of work of one queue pair
  uint32_t ack_max = 2;        ///< added to 1: from the execution at the peer to the completion
  uint32_t burst_max = 4;      ///< work requests that one queue pair may send in a tick
  uint32_t rnr_ticks = 6;      ///< from a "receiver not ready" to the next try
  uint32_t timeout_ticks = 8;  ///< from a lost packet to the next try
  double ud_loss = 0;          ///< chance that a datagram is dropped
  double ud_twice = 0;         ///< chance that one that is not comes twice
};

/// Calls that can be made to fail.
enum class Call : uint8_t {
  kGetDeviceList,
  kOpenDevice,
  kQueryDevice,
  kQueryDeviceEx,
  kQueryPort,
  kQueryGid,
  kAllocPd,
  kAllocTd,
  kAllocParentDomain,
  kRegMr,
  kDeregMr,
  kCreateChannel,
  kCreateCq,
  kCreateSrq,
  kCreateQp,
  kModifyQp,
  kCreateAh,
  kPostSend,
  kPostRecv,
  kPostSrqRecv,
  kPollCq,
  kReqNotify,
  kCount
};

struct Counters {
  uint64_t doorbells = 0;  ///< ibv_post_send calls that gave the device something
  uint64_t send_wrs = 0;
  uint64_t sends = 0;   ///< delivered; likewise the next three
  uint64_t writes = 0;  ///< with immediate or without
  uint64_t reads = 0;
  uint64_t atomics = 0;
  uint64_t signalled_wrs = 0;
  uint64_t inline_wrs = 0;
  uint64_t inline_bytes = 0;
  uint64_t gathered_bytes = 0;  ///< read by the device from registered memory
  uint64_t receive_posts = 0;   ///< calls, to receive queues and shared ones
  uint64_t receive_wrs = 0;
  uint64_t polls = 0;
  uint64_t empty_polls = 0;
  uint64_t completions = 0;  ///< handed out by polls
  uint64_t registrations = 0;
  uint64_t paged_bytes = 0;  ///< moved from or to memory that is paged on demand
  uint64_t rnr_naks = 0;     ///< messages that found no receive buffer at this device
  uint64_t lost = 0;         ///< packets from this device that reached nobody
  uint64_t datagrams_dropped = 0;
  uint64_t events = 0;  ///< completion events that were raised
};

/// A work request as it was posted: shows where the device was told to read.
struct PostedWr {
  std::string device;
  uint32_t qp_num = 0;
  uint64_t doorbell = 0;  ///< the count of doorbells of the device, this one included
  uint64_t wr_id = 0;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  unsigned int send_flags = 0;
  std::vector<ibv_sge> places;
  uint64_t remote_addr = 0;
  ibv_ah_attr way{};  ///< of the connection, or of the datagram
  uint16_t pkey = 0;
};

/// The network. One at a time; without one, ibv_get_device_list() says ENOSYS. Outlives whatever
/// the test opened on it. Its methods may be called from any thread.
class Fabric {
 public:
  explicit Fabric(uint64_t seed = 1, const Timing& timing = {});
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  void add(HcaSpec spec);
  void set_timing(const Timing& timing);
  /// Polls no longer tick: step() and run() alone do.
  void set_manual(bool manual);
  void step(uint32_t ticks = 1);
  /// Until nothing is under way, or so many ticks; true if nothing is.
  bool run(uint32_t ticks_max = 10'000);
  uint64_t ticks() const;
  /// Run by each call of verbs before it does anything, but not by those that it makes itself; for
  /// tests of one thread. {}: nothing is.
  void set_before_calls(std::function<void()> run);

  /// The `nth` call from now on, and `times` - 1 more after it, fail with this errno.
  void fail(Call call, int error, uint32_t nth = 1, uint32_t times = 1);
  /// Raises IBV_EVENT_PORT_ERR or _ACTIVE; while down, packets are lost both ways.
  void set_port_state(const std::string& device, uint8_t port, ibv_port_state state);
  /// IBV_EVENT_DEVICE_FATAL: its queue pairs fail, further calls but those that destroy say EIO.
  void device_fatal(const std::string& device);
  /// As if its host lost power: it completes nothing more and answers nobody; nobody is told.
  void kill(const std::string& device);
  /// The queue pair fails as after a hardware error: IBV_EVENT_QP_FATAL.
  void break_qp(const std::string& device, uint32_t qp_num);
  void break_connections(const std::string& device);  ///< all that are ready to send
  /// The next work request of a connection of this device ends so, whatever it is.
  void fail_work(const std::string& device, ibv_wc_status status);
  /// IBV_EVENT_CQ_ERR or IBV_EVENT_SRQ_ERR, of the first queue that the device has.
  void break_queue(const std::string& device, ibv_event_type event);
  void drop_datagrams(uint32_t count);                    ///< the next ones, from whomever
  void set_late_writes(const std::string& device);        ///< HcaSpec::has_late_writes
  void set_early_completions(const std::string& device);  ///< HcaSpec::has_early_completions
  void deny_thread_domains(const std::string& device);
  void deny_datagrams(const std::string& device);  ///< it makes no queue pairs for them
  void set_paging(const std::string& device, const ibv_odp_caps& odp);  ///< HcaSpec::odp

  /// Counters of one device, or of all together.
  Counters counters(const std::string& device = {}) const;
  void reset_counters();
  /// Queue pairs of reliable connections of one device, as many as there were at once since then.
  uint32_t connections_max(const std::string& device) const;
  void set_trace(bool traced);
  std::vector<PostedWr> trace() const;  ///< since set_trace(true)

  /// Checks that go beyond what a device can see; all on at first.
  struct Strictness {
    /// A source must stay as it is until its completion, even after the peer has the data.
    bool stable_sources = true;
    /// Posted receive buffers are overwritten at once: nobody may still read them.
    bool poisoned_receives = true;
    /// A read may fetch as late as its completion: work that follows it needs a fence.
    bool late_reads = true;
  };
  void set_strictness(const Strictness& strictness);

  /// Objects that are not destroyed yet, a line for each object: "cq mlx5_0 #4".
  std::vector<std::string> live() const;
  /// Breaches of a driver that a device cannot always tell: overrun completion queues, events that
  /// were not acknowledged, receive buffers posted twice, sources that changed too early.
  std::vector<std::string> violations() const;
};

}  // namespace pinwire::fake_verbs

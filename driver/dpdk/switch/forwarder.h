// Moves frames from port to port: learn, look up, suffer faults, queue, send. Frames are not
// copied: what vhost received is what vhost sends; a flooded frame is shared by its outputs.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "driver/dpdk/switch/faults.h"
#include "driver/dpdk/switch/station_table.h"
#include "driver/dpdk/switch/vhost_ports.h"

namespace pinwire {

struct SwitchCounters {
  uint64_t forwarded = 0;
  uint64_t flooded = 0;
  uint64_t same_port = 0;   ///< its destination is where it came from
  uint64_t queue_full = 0;  ///< lost because an output was too slow
  uint64_t lost = 0;        ///< on purpose, like the rest
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t corrupted = 0;
  uint64_t truncated = 0;
  uint64_t sleeps = 0;
};

class Forwarder {
 public:
  Forwarder(VhostPorts& ports, const SwitchFaults& faults);
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  /// One round over all ports. False: nothing moved.
  bool step() noexcept;
  /// True while frames are kept for later on purpose: no time to sleep.
  bool keeps_frames() const noexcept { return !delayed_.empty() || !overtaken_.empty(); }
  SwitchCounters& counters() noexcept { return counters_; }

 private:
  /// Frames that wait for one port's queue: a ring.
  struct Output {
    static constexpr uint32_t kFramesMax = 1024;
    std::array<rte_mbuf*, kFramesMax> frames;
    uint32_t first = 0;
    uint32_t count = 0;
  };
  struct Delayed {
    uint64_t due_ticks;
    uint32_t output;
    rte_mbuf* mbuf;
  };
  struct Overtaken {
    uint32_t frames_left;
    uint64_t due_ticks;  ///< comes out by then even if nobody overtakes
    uint32_t output;
    rte_mbuf* mbuf;
  };

  void accept(uint32_t port, uint32_t queue, rte_mbuf* mbuf) noexcept;
  bool suffer(rte_mbuf* mbuf, FrameFate& fate) noexcept;
  void send(uint32_t output, rte_mbuf* mbuf, const FrameFate& fate) noexcept;
  void enqueue(uint32_t output, rte_mbuf* mbuf) noexcept;
  bool release_due() noexcept;
  bool flush(uint32_t output) noexcept;

  VhostPorts& ports_;
  bool faulty_;
  uint64_t delay_ticks_;
  uint64_t overtake_ticks_;
  FaultDice dice_;
  StationTable stations_;
  std::vector<Output> outputs_;  ///< port * queues + queue
  std::deque<Delayed> delayed_;
  std::vector<Overtaken> overtaken_;
  SwitchCounters counters_;
};

}  // namespace pinwire

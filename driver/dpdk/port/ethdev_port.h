// The class behind DpdkPort; one file per thing it does: port_find, port_open, port_tx, port_rx,
// port_wake, port_attach, port_report.
#pragma once

#include <rte_ethdev.h>

#include <array>
#include <vector>

#include "driver/dpdk/port/device_traits.h"
#include "driver/dpdk/port/port_queue.h"

namespace pinwire {

inline constexpr uint32_t kAttachedMax = 256;

class EthdevPort final : public DpdkPort {
 public:
  explicit EthdevPort(const DpdkPortOptions& options) : options_(options) {}
  ~EthdevPort() override;
  Status open();

  PortFacts facts() const noexcept override { return facts_; }
  uint32_t tx(uint32_t queue, std::span<const TxFrame> frames) noexcept override;
  uint32_t rx(uint32_t queue, std::span<RxFrame> frames) noexcept override;
  void release(uint32_t queue, std::span<const RxFrame> frames) noexcept override;
  bool widen(uint32_t queue, RxFrame& frame, uint32_t bytes) noexcept override;
  Result<uint32_t> attach(void* base, uint64_t bytes) override;
  void detach(uint32_t key) override;
  int event_fd(uint32_t queue) const noexcept override;
  PortArmed arm(uint32_t queue) noexcept override;
  bool disarm(uint32_t queue) noexcept override;

  Status wait_link_up(uint32_t timeout_ms) override;
  DpdkPortCounters counters() const noexcept override;
  std::string describe() const override;
  bool is_isolated() const noexcept override { return isolated_; }
  uint32_t interface_index() const noexcept override { return info_.if_index; }
  uint16_t ethdev() const noexcept override { return ethdev_; }

 private:
  struct Attached {
    uintptr_t base = 0;  ///< 0: free
    uintptr_t end = 0;
    bool is_mapped = false;
    bool is_lingering = false;  ///< detached, but the device may still read it
  };

  // port_find.cc
  bool peer_has_failed() const noexcept;
  Status find_device();
  Status learn_device();
  // port_open.cc
  Status isolate_without_queues();
  Status isolate_with_queues();
  Status isolate();
  void choose_offloads(rte_eth_conf& conf) noexcept;
  Status configure();
  Status make_queue(uint16_t index);
  Status start();
  Status steer();
  void settle_facts();
  // port_tx.cc
  uint32_t build(PortQueue& queue, std::span<const TxFrame> frames, rte_mbuf** mbufs) noexcept;
  bool attachable(const PortQueue& queue, const TxFrame& frame) const noexcept;
  // port_attach.cc
  bool map_for_dma(const Attached& region);
  void count_unmapped(const Attached& region, const char* problem);
  bool is_done_with(const Attached& region) noexcept;
  void flush_all_unsent() noexcept;
  void forget(Attached& region) noexcept;
  void reap_lingering() noexcept;
  // port_wake.cc
  bool open_wake_fds() noexcept;

  DpdkPortOptions options_;
  PortFacts facts_;
  DeviceTraits traits_{};
  rte_eth_dev_info info_{};
  uint16_t ethdev_ = RTE_MAX_ETHPORTS;
  bool made_vdev_ = false;
  bool configured_ = false;
  bool isolated_ = false;
  bool inserts_vlan_ = false;
  bool started_ = false;
  uint16_t rx_ring_frames_ = 0;
  uint16_t tx_ring_frames_ = 0;
  uint32_t first_lcore_ = 0;
  int memory_node_ = SOCKET_ID_ANY;  ///< the device's, while it has memory
  std::vector<PortQueue> queues_;
  std::array<Attached, kAttachedMax> attached_{};
  uint64_t unmapped_regions_ = 0;   ///< attach() could not map them: sent by a copy
  uint64_t lingering_regions_ = 0;  ///< detach() gave up waiting for the device
};

inline constexpr char kPeerHasFailed[] =
    "another rank of this host could not start DPDK; its message says why";

/// The arguments that a device was made with: "iface=/run/x,queues=2".
std::string_view device_arguments(const rte_eth_dev_info& info);

/// Sends what tx() accepted earlier; true when nothing waits any more.
bool flush_unsent(PortQueue& queue) noexcept;

/// One device burst into `found`, without handing it out.
uint32_t receive_ahead(PortQueue& queue) noexcept;

void stop_interrupts(PortQueue& queue) noexcept;
/// Frames were received while another thread sleeps, perhaps without an event: it is woken, and the
/// device makes no more events.
void wake_sleeper(PortQueue& queue) noexcept;

}  // namespace pinwire

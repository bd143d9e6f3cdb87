#include "driver/dpdk/driver.h"

#include "core/base/log.h"
#include "driver/dpdk/tsc_clock.h"

namespace pinwire {
namespace {

/// Owns what nicfw borrows; everything else is nicfw's.
class DpdkDriver final : public Driver {
 public:
  DpdkDriver(std::unique_ptr<DpdkDevice> device, const NicConfig& config)
      : device_(std::move(device)),
        clock_(tsc_ticks_per_s()),
        nic_(make_nic(device_->port(), clock_, config)) {}

  const char* name() const noexcept override { return "dpdk"; }
  Caps caps() const noexcept override { return nic_->caps(); }
  Status open(const OpenInfo& info) override { return nic_->open(info); }
  std::vector<std::byte> address() const override { return nic_->address(); }
  Status connect(Rank peer, std::span<const std::byte> address) override {
    return nic_->connect(peer, address);
  }
  Result<Region> pin(void* base, uint64_t bytes, int fd, uint64_t fd_offset) override {
    return nic_->pin(base, bytes, fd, fd_offset);
  }
  Status unpin(const Region& region) override { return nic_->unpin(region); }
  void close() override { nic_->close(); }

  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    return nic_->post(lane, work);
  }
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    return nic_->done(lane, out);
  }
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    return nic_->recv(lane, filter, out);
  }
  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override {
    nic_->give_back(lane, buffers);
  }
  bool idle(uint32_t lane) const noexcept override { return nic_->idle(lane); }
  int event_fd(uint32_t lane) const noexcept override { return nic_->event_fd(lane); }
  Armed arm(uint32_t lane) noexcept override { return nic_->arm(lane); }
  bool drained(uint32_t lane) const noexcept override { return nic_->drained(lane); }
  const Failure* failure() const noexcept override { return nic_->failure(); }
  void stats(StatSink& sink) const noexcept override;

 private:
  std::unique_ptr<DpdkDevice> device_;
  TscClock clock_;
  std::unique_ptr<Driver> nic_;  // after, and so destroyed before, what it borrows
};

void DpdkDriver::stats(StatSink& sink) const noexcept {
  nic_->stats(sink);
  const DpdkPortCounters counters = device_->port().counters();
  sink.stat("port_tx_frames", counters.tx_frames);
  sink.stat("port_tx_bytes", counters.tx_bytes);
  sink.stat("port_tx_attached_frames", counters.tx_attached_frames);
  sink.stat("port_tx_attached_bytes", counters.tx_attached_bytes);
  sink.stat("port_tx_copied_body_bytes", counters.tx_copied_body_bytes);
  sink.stat("port_tx_refused_calls", counters.tx_refused_calls);
  sink.stat("port_rx_frames", counters.rx_frames);
  sink.stat("port_rx_bytes", counters.rx_bytes);
  sink.stat("port_rx_realigned_frames", counters.rx_realigned_frames);
  sink.stat("port_rx_joined_frames", counters.rx_joined_frames);
  sink.stat("port_rx_dropped_frames", counters.rx_dropped_frames);
  sink.stat("port_wakeups_armed", counters.wakeups_armed);
}

}  // namespace

Result<std::unique_ptr<Driver>> make_dpdk_driver(const DpdkOptions& options, const NicConfig& nic) {
  Result<std::unique_ptr<DpdkDevice>> device = bring_up_dpdk(options);
  if (!device) return device.error();
  if (options.show_story) log_note("%s", (*device)->story().c_str());
  return std::unique_ptr<Driver>(std::make_unique<DpdkDriver>(std::move(*device), nic));
}

}  // namespace pinwire

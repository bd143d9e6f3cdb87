#include "driver/dpdk/driver.h"

#include <utility>

#include "core/base/log.h"
#include "driver/dpdk/tsc_clock.h"
#include "driver/forwarding.h"

namespace pinwire {
namespace {

/// Passes nicfw's notices to the user as warnings.
struct Warnings final : NoticeSink {
  void say(const char* sentence) noexcept override { log_warning("%s", sentence); }
};

/// Owns what nicfw borrows; everything else is nicfw's.
struct DpdkParts {
  DpdkParts(std::unique_ptr<DpdkDevice> with, const NicConfig& config)
      : device(std::move(with)),
        clock(tsc_ticks_per_s()),
        nic(make_nic(device->port(), clock, with_warnings(config))) {}

  std::unique_ptr<DpdkDevice> device;
  TscClock clock;
  Warnings warnings;
  std::unique_ptr<Driver> nic;  // after, and so destroyed before, what it borrows

 private:
  NicConfig with_warnings(NicConfig config) noexcept {
    if (config.notices == nullptr) config.notices = &warnings;
    return config;
  }
};

class DpdkDriver final : private DpdkParts, public ForwardingDriver {
 public:
  DpdkDriver(std::unique_ptr<DpdkDevice> with, const NicConfig& config)
      : DpdkParts(std::move(with), config), ForwardingDriver(*nic) {}

  const char* name() const noexcept override { return "dpdk"; }
  /// Every rank is up by now.
  Status connect(Rank peer, std::span<const std::byte> address) override {
    if (!std::exchange(has_peers_, true)) device->close_on_exec();
    return nic->connect(peer, address);
  }
  void stats(StatSink& sink) const noexcept override;

 private:
  bool has_peers_ = false;
};

void DpdkDriver::stats(StatSink& sink) const noexcept {
  nic->stats(sink);
  const DpdkPortCounters counters = device->port().counters();
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
  sink.stat("port_rx_other_vlan_frames", counters.rx_other_vlan_frames);
  sink.stat("port_wakeups_armed", counters.wakeups_armed);
  sink.stat("port_unmapped_regions", counters.unmapped_regions);
  sink.stat("port_lingering_regions", counters.lingering_regions);
}

/// Tells which checksum protects large payloads under GASNET_DPDK_AUTH=header. Empty: the key does.
const char* auth_story(const PortFacts& facts, FrameAuth auth) {
  if (auth == FrameAuth::kFull || facts.memory_medium) return "";
  return facts.udp_checksum_offload
             ? ", GASNET_DPDK_AUTH=header: large payloads under the device's UDP checksum"
             : ", GASNET_DPDK_AUTH=header: large payloads under Ethernet's frame check sequence "
               "alone, as this device makes no UDP checksum";
}

}  // namespace

Result<std::unique_ptr<Driver>> make_dpdk_driver(const DpdkOptions& options, const NicConfig& nic) {
  Result<std::unique_ptr<DpdkDevice>> device = bring_up_dpdk(options);
  if (!device) return device.error();
  NicConfig config = nic;
  config.udp_port = options.udp_port;  // the port steers what nicfw receives
  config.ipv4 = (*device)->address().ipv4;
  config.ipv4_prefix_bits = (*device)->address().prefix_bits;
  config.gateway_mac = (*device)->gateway_mac();
  if (options.show_story) {
    log_note("%s%s", (*device)->description().c_str(),
             auth_story((*device)->port().facts(), config.auth));
  }
  return std::unique_ptr<Driver>(std::make_unique<DpdkDriver>(std::move(*device), config));
}

}  // namespace pinwire

#include "driver/dpdk/port/device_traits.h"

#include <algorithm>
#include <charconv>

namespace pinwire {
namespace {

constexpr uint32_t kVirtioMtuMax = 9698;  // longer frames are chained over descriptors
constexpr uint32_t kMemifBufferDefault = 2048;
constexpr uint32_t kPacketFrameDefault = 2048;
constexpr uint32_t kPacketHeaderBytes =
    96;  // tpacket2 header, sockaddr_ll and alignment before the frame
constexpr uint32_t kSoftwareFrameMax = 16384;

uint32_t number_or(std::string_view text, uint32_t fallback) {
  uint32_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end != text.data() ? value : fallback;
}

uint32_t packet_slot(const DeviceReport& report) {
  return number_or(device_argument(report.arguments, "framesz"), kPacketFrameDefault);
}

uint32_t packet_frame_max(const DeviceReport& report) {
  const uint32_t slot = packet_slot(report);
  const uint32_t room = slot > kPacketHeaderBytes ? slot - kPacketHeaderBytes : 0;
  const uint32_t interface = report.interface_mtu != 0 ? report.interface_mtu : 1500;
  return std::min(room, interface + kEthernetBytes);
}

}  // namespace

std::string_view device_argument(std::string_view arguments, std::string_view key) {
  while (!arguments.empty()) {
    const size_t comma = std::min(arguments.find(','), arguments.size());
    const std::string_view pair = arguments.substr(0, comma);
    arguments.remove_prefix(std::min(comma + 1, arguments.size()));
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key)
      return pair.substr(equals + 1);
  }
  return {};
}

DeviceTraits device_traits(const DeviceReport& report) {
  const std::string_view driver = report.driver;
  if (driver == "net_vhost") {
    // vhost reads a body with the CPU when it fills the peer's ring: the one copy between
    // processes.
    return {.frame_bytes_max = kVirtioMtuMax + kEthernetBytes,
            .takes_mtu = false,
            .body_path = report.multi_segment_tx ? BodyPath::kCpu : BodyPath::kCopy,
            .paired_queues = true,
            .any_mac = true,
            .burst_costs = true,  // takes all its buffers first and gives the rest back
            .restarts_link = false};
  }
  if (driver == "net_virtio_user") {
    // Its peer sees EAL's memory only, so bodies elsewhere must be copied.
    return {.frame_bytes_max = std::min(report.mtu_max, kVirtioMtuMax) + kEthernetBytes,
            .takes_mtu = true,
            .body_path = BodyPath::kCopy,
            .paired_queues = true,
            .any_mac = false,
            .restarts_link = false};
  }
  if (driver == "net_memif") {
    // Says 1518 and refuses a larger MTU, yet carries whatever fits one buffer; chained frames
    // break.
    return {.frame_bytes_max =
                number_or(device_argument(report.arguments, "bsize"), kMemifBufferDefault),
            .takes_mtu = false,
            .body_path = BodyPath::kCopy,
            .paired_queues = true,
            .any_mac = true,
            .hears_peer_leave = true,
            .restarts_link = true};
  }
  if (driver == "net_af_packet") {
    return {.frame_bytes_max = packet_frame_max(report),
            .buffer_bytes_min = packet_slot(report),
            .takes_mtu = false,
            .body_path = BodyPath::kCopy,
            .paired_queues = false,
            .any_mac = false,
            .restarts_link = false};
  }
  if (driver == "net_ring" || driver == "net_null") {
    return {.frame_bytes_max = kSoftwareFrameMax,
            .takes_mtu = false,
            .body_path = BodyPath::kCopy,
            .paired_queues = true,
            .any_mac = true,
            .calls_kernel = false,
            .restarts_link = false};
  }
  // The driver of the 82540 to 82574: it never programs where MSI-X, EAL's choice, is to deliver.
  const bool em = driver == "net_e1000_em";
  const bool mappable = report.multi_segment_tx && report.iova_is_va && driver != "net_tap";
  const bool shares = driver.starts_with("mlx5") || driver.starts_with("mlx4") ||
                      driver.starts_with("net_mlx") ||
                      (driver == "net_tap" && !device_argument(report.arguments, "remote").empty());
  return {.frame_bytes_max = report.mtu_max + kEthernetBytes,
          .power_of_two_buffers = em,
          .takes_mtu = true,
          .body_path = mappable ? BodyPath::kMapped : BodyPath::kCopy,
          .paired_queues = false,
          .any_mac = false,
          .shares_with_kernel = shares,
          .isolates_with_queues = driver == "net_tap",
          .wakes = !em,
          .calls_kernel = !mappable,
          .restarts_link = false};
}

}  // namespace pinwire

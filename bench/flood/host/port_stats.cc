#include "bench/flood/host/port_stats.h"

#include "bench/flood/words/text.h"

namespace pinwire::flood {
namespace {

// testpmd's columns for failed transmissions stay for those who parse them. Nothing is counted
// there: an operation of GASNet that fails ends the job (C1-025), and back-pressure is waited out.
constexpr unsigned kNeverFails = 0;

unsigned long long wide(uint64_t value) { return value; }

uint64_t per_second(uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<uint64_t>(static_cast<double>(count) / seconds) : 0;
}

std::string totals(const PortCounters& sum) {
  return text(
      "  RX-packets: %-14llu RX-dropped: %-13llu RX-total: %llu\n"
      "  TX-packets: %-14llu TX-dropped: %-13u TX-total: %llu\n",
      wide(sum.rx_messages), wide(sum.rx_missed), wide(sum.rx_messages + sum.rx_missed),
      wide(sum.tx_messages), kNeverFails, wide(sum.tx_messages));
}

}  // namespace

PortCounters operator-(const PortCounters& now, const PortCounters& before) {
  return {now.rx_messages - before.rx_messages, now.rx_bytes - before.rx_bytes,
          now.rx_missed - before.rx_missed,     now.tx_messages - before.tx_messages,
          now.tx_bytes - before.tx_bytes,       now.rx_frames - before.rx_frames,
          now.tx_frames - before.tx_frames};
}

PortCounters operator+(const PortCounters& one, const PortCounters& other) {
  return {one.rx_messages + other.rx_messages, one.rx_bytes + other.rx_bytes,
          one.rx_missed + other.rx_missed,     one.tx_messages + other.tx_messages,
          one.tx_bytes + other.tx_bytes,       one.rx_frames + other.rx_frames,
          one.tx_frames + other.tx_frames};
}

std::string port_statistics(uint32_t port, const PortCounters& total, const PortCounters& recent,
                            double seconds) {
  return text(
      "\n  ######################## NIC statistics for port %-2u ########################\n"
      "  RX-packets: %-10llu RX-missed: %-10llu RX-bytes:  %llu\n"
      "  TX-packets: %-10llu TX-errors: %-10u TX-bytes:  %llu\n"
      "  RX-frames:  %-10llu TX-frames: %llu\n"
      "\n  Throughput (since last show)\n"
      "  Rx-pps: %14llu          Rx-bps: %16llu\n"
      "  Tx-pps: %14llu          Tx-bps: %16llu\n"
      "  ############################################################################\n",
      port, wide(total.rx_messages), wide(total.rx_missed), wide(total.rx_bytes),
      wide(total.tx_messages), kNeverFails, wide(total.tx_bytes), wide(total.rx_frames),
      wide(total.tx_frames), wide(per_second(recent.rx_messages, seconds)),
      wide(per_second(recent.rx_bytes * 8, seconds)), wide(per_second(recent.tx_messages, seconds)),
      wide(per_second(recent.tx_bytes * 8, seconds)));
}

std::string forward_statistics(const std::vector<PortCounters>& ports) {
  std::string out;
  PortCounters sum;
  for (size_t port = 0; port < ports.size(); ++port) {
    out +=
        text("\n  ---------------------- Forward statistics for port %-2zu ---------------------\n",
             port);
    out += totals(ports[port]);
    out += "  ----------------------------------------------------------------------------\n";
    sum = sum + ports[port];
  }
  out += "\n  +++++++++++++++ Accumulated forward statistics for all ports +++++++++++++++\n";
  out += totals(sum);
  out += "  ++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++\n";
  return out;
}

}  // namespace pinwire::flood

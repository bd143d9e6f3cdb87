#include "bench/flood/host/port_stats.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

TEST(PortStats, TheBlockOfTestpmd) {
  const PortCounters total = {10, 80, 1, 20, 160, 3, 4};
  const PortCounters recent = {5, 40, 0, 10, 80, 0, 0};
  const std::string block = port_statistics(0, total, recent, 2.0);
  EXPECT_NE(block.find("#### NIC statistics for port 0 "), std::string::npos) << block;
  EXPECT_NE(block.find("RX-packets: 10         RX-missed: 1          RX-bytes:  80\n"),
            std::string::npos);
  EXPECT_NE(block.find("TX-packets: 20         TX-errors: 0          TX-bytes:  160\n"),
            std::string::npos);
  EXPECT_NE(block.find("Throughput (since last show)\n"), std::string::npos);
  EXPECT_NE(block.find("Rx-pps:              2          Rx-bps:              160\n"),
            std::string::npos);
  EXPECT_NE(block.find("Tx-pps:              5          Tx-bps:              320\n"),
            std::string::npos);
}

TEST(PortStats, NoTimePassedIsNoDivision) {
  EXPECT_NE(port_statistics(1, {}, {5, 5, 0, 5, 5, 0, 0}, 0).find("Rx-pps:              0"),
            std::string::npos);
}

TEST(PortStats, TotalsAddUpOverThePorts) {
  const std::string block = forward_statistics({{1, 0, 2, 3, 0, 0, 0}, {10, 0, 20, 30, 0, 0, 0}});
  EXPECT_NE(block.find("Forward statistics for port 1 "), std::string::npos);
  EXPECT_NE(block.find("RX-packets: 11             RX-dropped: 22            RX-total: 33\n"),
            std::string::npos)
      << block;
  EXPECT_NE(block.find("TX-total: 33\n"), std::string::npos);
}

TEST(PortStats, Difference) {
  const PortCounters difference =
      PortCounters{9, 8, 7, 6, 5, 4, 3} - PortCounters{1, 2, 3, 4, 5, 4, 1};
  EXPECT_EQ(difference.rx_messages, 8u);
  EXPECT_EQ(difference.rx_missed, 4u);
  EXPECT_EQ(difference.tx_bytes, 0u);
  EXPECT_EQ(difference.tx_frames, 2u);
}

}  // namespace
}  // namespace pinwire::flood

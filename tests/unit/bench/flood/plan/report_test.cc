#include "bench/flood/plan/report.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

Figures row(Pattern test, Operation operation, uint64_t bytes, double us) {
  Figures figures;
  figures.test = test;
  figures.operation = operation;
  figures.bytes = bytes;
  figures.us_per_message = us;
  figures.messages_per_s = 1e6 / us;
  figures.bytes_per_s = 1e6 / us * static_cast<double>(bytes);
  figures.iterations = 10000;
  return figures;
}

std::string line_with(const std::string& out, const std::string& begin, size_t skip = 0) {
  size_t at = out.find("\n  " + begin);
  while (skip-- > 0 && at != std::string::npos) at = out.find("\n  " + begin, at + 1);
  return at == std::string::npos ? "" : out.substr(at + 1, out.find('\n', at + 1) - at - 1);
}

TEST(Report, PA016TimeOutsideOfSending) {
  const auto out = report({.driver = "shm"}, {row(Pattern::kPingpong, Operation::kPutNb, 1, 68.7),
                                              row(Pattern::kFlood, Operation::kPutNb, 1, 28.8)});
  const std::string line = line_with(out, "put_nb");
  EXPECT_NE(line.find("68.70"), std::string::npos) << line;
  EXPECT_NE(line.find("28.80"), std::string::npos) << line;
  EXPECT_NE(line.find("11.10"), std::string::npos) << line;
}

TEST(Report, PA014DepthAndMethodAreStated) {
  const auto out =
      report({.driver = "dpdk", .dispatch = "watchdog", .network_depth = 16, .planned = 3},
             {row(Pattern::kFlood, Operation::kGetNb, 8, 1)});
  EXPECT_NE(out.find("dpdk:"), std::string::npos);
  EXPECT_NE(out.find("dispatch watchdog"), std::string::npos);
  EXPECT_NE(out.find("network depth 16"), std::string::npos);
  EXPECT_NE(out.find("10000 operations"), std::string::npos);
  EXPECT_NE(out.find("STOPPED: 1 of 3"), std::string::npos);
}

TEST(Report, TheFloorAndTheCeilingStandBesideShm) {
  const auto out =
      report({.driver = "shm",
              .planned = 2,
              .barriers_us = {0.5},
              .line_round_trips_ns = {100, 300, 200},
              .memcpy_bytes_per_s = {2e10}},
             {row(Pattern::kPingpong, Operation::kAmShort, 0, 0.3),
              row(Pattern::kFlood, Operation::kPutBlocking, 1u << 20, (1u << 20) / 1e4)});
  EXPECT_NE(out.find("0.5000 us (0.5000 ... 0.5000, measured 1 times)"), std::string::npos) << out;
  EXPECT_NE(out.find("0.2000 us (0.1000 ... 0.3000, measured 3 times)"), std::string::npos) << out;
  EXPECT_NE(out.find("1.50 x the floor"), std::string::npos) << out;
  EXPECT_NE(out.find("0.50 x the ceiling"), std::string::npos) << out;
  EXPECT_EQ(out.find("STOPPED"), std::string::npos);
}

TEST(Report, BandwidthMatrixHasARowPerSize) {
  const auto out =
      report({.driver = "shm"}, {row(Pattern::kFlood, Operation::kPutNb, 1u << 20, 100),
                                 row(Pattern::kFlood, Operation::kGetNb, 4u << 20, 100)});
  EXPECT_NE(line_with(out, "1 MiB").find("10486"), std::string::npos) << out;
  EXPECT_NE(line_with(out, "4 MiB").find("41943"), std::string::npos) << out;
}

TEST(Report, PA019DepthSweepHasAColumnPerDepth) {
  std::vector<Figures> rows;
  for (const Operation operation : {Operation::kPutNb, Operation::kGetNb}) {
    for (const uint32_t depth : {1u, 2u, 4u}) {
      rows.push_back(row(Pattern::kFlood, operation, 8, 1.0 / depth));
      rows.back().depth = depth;
    }
  }
  const auto out = report({.driver = "shm"}, rows);
  const std::string line = line_with(out, "get_nb 8");
  for (const char* cell : {"1000", "2000", "4000"}) {
    EXPECT_NE(line.find(cell), std::string::npos) << out;
  }
  EXPECT_EQ(report({.driver = "shm"}, {rows[0]}).find("Depth sweep"), std::string::npos);
}

TEST(Figures, PairsAddUp) {
  Figures all = row(Pattern::kFlood, Operation::kPutNb, 8, 2);
  const Figures pair = row(Pattern::kFlood, Operation::kPutNb, 8, 4);
  add_pair(all, pair);
  EXPECT_DOUBLE_EQ(all.us_per_message, 4);
  EXPECT_DOUBLE_EQ(all.messages_per_s, 750e3);
}

}  // namespace
}  // namespace pinwire::flood

#include "bench/flood/plan/report.h"

#include <gtest/gtest.h>

#include <iterator>
#include <utility>

#include "bench/flood/plan/key_figures.h"

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
  const auto out = report({.driver = "shm", .tables = true},
                          {row(Pattern::kPingpong, Operation::kPutNb, 1, 68.7),
                           row(Pattern::kFlood, Operation::kPutNb, 1, 28.8)});
  const std::string line = line_with(out, "put_nb");
  EXPECT_NE(line.find("68.7 us"), std::string::npos) << line;
  EXPECT_NE(line.find("28.8 us"), std::string::npos) << line;
  EXPECT_NE(line.find("11.1 us"), std::string::npos) << line;
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
  const auto out = report({.driver = "shm",
                           .planned = 2,
                           .references = {.barriers_us = {0.5},
                                          .line_round_trips_ns = {100, 300, 200},
                                          .memcpy_bytes_per_s = {2e10}}},
                          {row(Pattern::kPingpong, Operation::kAmShort, 0, 0.3),
                           row(Pattern::kFlood, Operation::kPutNb, 1u << 20, (1u << 20) / 1e4)});
  EXPECT_NE(out.find("500 ns (500 ns ... 500 ns, measured 1 times)"), std::string::npos) << out;
  EXPECT_NE(out.find("200 ns (100 ns ... 300 ns, measured 3 times)"), std::string::npos) << out;
  EXPECT_NE(out.find("1.50 x the floor"), std::string::npos) << out;
  EXPECT_NE(out.find("0.50 x the ceiling"), std::string::npos) << out;
  EXPECT_EQ(out.find("STOPPED"), std::string::npos);
}

TEST(Report, BandwidthMatrixHasARowPerSize) {
  const auto out = report({.driver = "shm", .tables = true},
                          {row(Pattern::kFlood, Operation::kPutNb, 1u << 20, 100),
                           row(Pattern::kFlood, Operation::kGetNb, 4u << 20, 100)});
  EXPECT_NE(line_with(out, "1 MiB").find("10.5 GB/s"), std::string::npos) << out;
  EXPECT_NE(line_with(out, "4 MiB").find("41.9 GB/s"), std::string::npos) << out;
}

TEST(Report, PA019DepthSweepHasAColumnPerDepth) {
  std::vector<Figures> rows;
  for (const Operation operation : {Operation::kPutNb, Operation::kGetNb}) {
    for (const uint32_t depth : {1u, 2u, 4u}) {
      rows.push_back(row(Pattern::kFlood, operation, 8, 1.0 / depth));
      rows.back().depth = depth;
    }
  }
  const auto out = report({.driver = "shm", .tables = true}, rows);
  const std::string line = line_with(out, "get_nb 8");
  for (const char* cell : {"1.00 M/s", "2.00 M/s", "4.00 M/s"}) {
    EXPECT_NE(line.find(cell), std::string::npos) << out;
  }
  EXPECT_EQ(report({.driver = "shm", .tables = true}, {rows[0]}).find("Depth sweep"),
            std::string::npos);
}

std::vector<Figures> key_rows() {
  std::vector<Figures> rows;
  for (const KeyFigure& key : kKeyFigures) {
    rows.push_back(row(key.test, key.operation, key.bytes, key.bytes == kLargeBytes ? 100 : 0.25));
  }
  return rows;
}

TEST(Report, TheFirstScreenHasTenFiguresInUnitsThatFit) {
  auto rows = key_rows();
  rows[4].us_per_message = 0.000983;
  rows[0].spread = 0.07;
  const auto out = report({.driver = "shm", .planned = rows.size()}, rows);
  const std::pair<const char*, const char*> kWanted[] = {
      {"Short AM, round trip", " 250 ns"},
      {"Short AMs, rate", " 4.00 M/s"},
      {"Medium AMs of 512 B, rate", " 4.00 M/s"},
      {"Long AMs of 1 MiB, bandwidth", " 10.5 GB/s"},
      {"blocking put of 8 B, time", " 0.983 ns"},
      {"blocking get of 8 B, time", " 250 ns"},
      {"overlapped puts of 8 B, rate", " 4.00 M/s"},
      {"overlapped gets of 8 B, rate", " 4.00 M/s"},
      {"overlapped puts of 1 MiB, bandwidth", " 10.5 GB/s"},
      {"overlapped gets of 1 MiB, bandwidth", " 10.5 GB/s"},
  };
  static_assert(std::size(kWanted) == kKeyFigures.size());
  for (const auto& [label, value] : kWanted) {
    const std::string line = line_with(out, label);
    EXPECT_NE(line.find(value), std::string::npos) << label << " in" << out;
  }
  EXPECT_TRUE(line_with(out, "Short AM, round trip").ends_with(" 7")) << out;
  EXPECT_NE(out.find("--all"), std::string::npos) << out;
}

TEST(Report, LoopsThatDifferMuchAreSaidToBeDisturbed) {
  auto rows = key_rows();
  rows[3].spread = 0.5;
  EXPECT_EQ(report({.driver = "shm"}, rows).find("idle"), std::string::npos);
  rows[3].spread = 0.51;
  EXPECT_NE(report({.driver = "shm"}, rows).find("when the machine is idle"), std::string::npos);
}

TEST(Report, TheTablesComeAfterTheFirstScreenOnRequestAlone) {
  const char* kOnlyInTables = "Ping-pong: one operation at a time";
  EXPECT_EQ(report({.driver = "shm"}, key_rows()).find(kOnlyInTables), std::string::npos);
  const auto out = report({.driver = "shm", .tables = true}, key_rows());
  const size_t screen = out.find("Short AM, round trip");
  const size_t tables = out.find(kOnlyInTables);
  ASSERT_NE(tables, std::string::npos) << out;
  EXPECT_LT(screen, tables) << out;
  EXPECT_EQ(out.find("--all"), std::string::npos) << out;
}

TEST(Report, ABandwidthIsOfTheLargestSizeWhereOneMiBIsNotMeasured) {
  const auto out =
      report({.driver = "shm"}, {row(Pattern::kFlood, Operation::kPutNb, 2u << 20, 200),
                                 row(Pattern::kFlood, Operation::kPutNb, 4u << 20, 400),
                                 row(Pattern::kFlood, Operation::kPutNb, 64, 1),
                                 row(Pattern::kFlood, Operation::kGetNb, 64, 1)});
  EXPECT_NE(line_with(out, "overlapped puts of 4 MiB, bandwidth"), "") << out;
  EXPECT_EQ(line_with(out, "overlapped gets"), "") << out;
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

// Several processes, the whole dpdk driver: messages arrive once and in full, puts and gets move
// the right bytes, over each fabric.
#include "driver/dpdk/driver.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/driver/dpdk/node.h"
#include "tests/unit/driver/dpdk/switch_process.h"

namespace pinwire {
namespace {

std::string one_rank(const char* fabric, uint32_t rank, uint32_t ranks,
                     const std::string& directory, Meeting& meeting, Board& board) {
  DpdkOptions options;
  options.fabric = fabric;
  options.rank = options.host_rank = rank;
  options.rank_count = options.host_rank_count = ranks;
  options.job_directory = directory;
  return run_rank(options, meeting, board);
}

void run_over(const char* fabric, uint32_t ranks, const std::vector<std::string>& faults = {}) {
  const ScratchDirectory scratch;
  std::optional<SwitchProcess> network;
  if (std::string(fabric) == "switch") network.emplace(ranks, scratch.path(), faults);
  const SharedBoard board;
  const auto said = run_processes(ranks, 120, [&](uint32_t rank, Meeting& meeting) {
    return one_rank(fabric, rank, ranks, scratch.path(), meeting, *board);
  });
  for (const std::string& words : said) EXPECT_EQ(words, "");
  if (network) {
    const std::string counters = network->stop();
    EXPECT_NE(counters.find("forwarded"), std::string::npos) << counters;
    if (!faults.empty()) {
      EXPECT_EQ(counters.find(" lost 0 "), std::string::npos) << counters;
    }
  }
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

TEST(DpdkDriver, MessagesPutsAndGetsOverPair) { run_over("pair", 2); }
TEST(DpdkDriver, MessagesPutsAndGetsOverMemif) { run_over("memif", 2); }

TEST(DpdkDriver, FourRanksOverTheSwitch) { run_over("switch", 4); }
TEST(DpdkDriver, ThreeRanksOverASwitchThatLosesAndReordersAndCorrupts) {
  run_over("switch", 3,
           {"--loss", "0.02", "--dup", "0.02", "--reorder", "0.05", "--corrupt", "0.01",
            "--truncate", "0.005", "--burst-loss", "0.0002", "--seed", "7"});
}
TEST(DpdkDriver, TwoRanksOverASlowSwitch) {
  run_over("switch", 2, {"--delay-us", "200", "--loss", "0.001"});
}

TEST(DpdkDriver, SaysWhyItCannotStart) {
  const auto said = run_processes(1, 30, [](uint32_t, Meeting&) -> std::string {
    DpdkOptions options;
    options.fabric = "args";
    options.eal_arguments = "--no-such-option";
    auto driver = make_dpdk_driver(options);
    if (driver) return "started";
    if (driver.sentence().find("--no-such-option") == std::string::npos) return driver.sentence();
    if (driver.sentence().find("GASNET_EAL_ARGS") == std::string::npos) return driver.sentence();
    return "";
  });
  EXPECT_EQ(said[0], "");
}

TEST(DpdkDriver, SaysThatAPhysicalPortIsNotThere) {
  const auto said = run_processes(1, 30, [](uint32_t, Meeting&) -> std::string {
    DpdkOptions options;
    options.fabric = "pci";
    options.pci = {"0000:99:00.0"};
    options.timeout_ms = 200;
    auto driver = make_dpdk_driver(options);
    if (driver) return "started";
    return driver.sentence().find("0000:99:00.0") == std::string::npos ? driver.sentence() : "";
  });
  EXPECT_EQ(said[0], "");
}

/// As the second of two ranks, alone.
std::string why_none_starts(const ScratchDirectory& scratch, uint32_t timeout_ms) {
  return run_processes(1, 30, [&](uint32_t, Meeting&) -> std::string {
    DpdkOptions options;
    options.fabric = "pair";
    options.rank = options.host_rank = 1;
    options.rank_count = options.host_rank_count = 2;
    options.job_directory = scratch.path();
    options.timeout_ms = timeout_ms;
    auto driver = make_dpdk_driver(options);
    return driver ? "started" : driver.sentence();
  })[0];
}

/// The file that tells the other ranks of its host is all that stays of what it has made.
TEST(DpdkDriver, SaysThatThePeerNeverCame) {
  const ScratchDirectory scratch;
  EXPECT_NE(why_none_starts(scratch, 200).find("never appeared"), std::string::npos);
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{"dpdk-failed"});
  constexpr uint32_t kLongerThanTheTestMs = 60'000;
  EXPECT_NE(why_none_starts(scratch, kLongerThanTheTestMs)
                .find("another rank of this host could not start DPDK"),
            std::string::npos);
}

}  // namespace
}  // namespace pinwire

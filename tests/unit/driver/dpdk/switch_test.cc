// The parts of the switch that need no device, and the process itself.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/dpdk/switch/faults.h"
#include "driver/dpdk/switch/station_table.h"
#include "tests/unit/driver/dpdk/switch_process.h"
#include "tests/unit/driver/dpdk/two_processes.h"

namespace pinwire {
namespace {

Result<SwitchOptions> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "pinwire_switch");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return parse_switch_options(static_cast<int>(words.size()), argv.data());
}

TEST(SwitchOptions, TakesPortsDirectoryAndFaults) {
  const auto options =
      parse({"--ports",      "4",     "--dir=/run/x",   "--loss", "0.3",        "--dup=0.1",
             "--reorder",    "0.3",   "--corrupt",      "0.01",   "--truncate", "0.02",
             "--burst-loss", "0.001", "--burst-frames", "8",      "--delay-us", "50",
             "--seed",       "42",    "--queues",       "2"});
  ASSERT_TRUE(options.ok()) << options.sentence();
  auto got = options;
  EXPECT_EQ(got->ports, 4u);
  EXPECT_EQ(got->directory, "/run/x");
  EXPECT_EQ(got->queues, 2u);
  EXPECT_EQ(got->faults.loss, 0.3);
  EXPECT_EQ(got->faults.duplicate, 0.1);
  EXPECT_EQ(got->faults.truncate, 0.02);
  EXPECT_EQ(got->faults.burst_frames, 8u);
  EXPECT_EQ(got->faults.delay_us, 50u);
  EXPECT_EQ(got->faults.seed, 42u);
  EXPECT_TRUE(got->faults.any());
  EXPECT_FALSE(parse({"--ports", "4", "--dir", "/x"})->faults.any());
}

TEST(SwitchOptions, RefusesNonsenseWithASentence) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"--ports", "4"},
      {"--dir", "/x"},
      {"--ports", "0", "--dir", "/x"},
      {"--ports", "65", "--dir", "/x"},
      {"--ports", "4x", "--dir", "/x"},
      {"--ports", "-4", "--dir", "/x"},
      {"--ports", "4", "--dir", "/x", "--loss", "1.5"},
      {"--ports", "4", "--dir", "/x", "--loss"},
      {"--ports", "4", "--dir", "/x", "--speed", "9"},
      {"--ports", "4", "--dir", "/x", "extra"}};
  for (const auto& words : wrong) {
    const auto options = parse(words);
    ASSERT_FALSE(options.ok());
    EXPECT_NE(options.sentence().find("pinwire_switch"), std::string::npos);
  }
}

TEST(SwitchOptions, RefusalsSayWhatIsExpected) {
  const struct {
    const char *option, *text, *expected;
  } wrong[] = {{"--ports", "65", "a whole number from 1 to 64"},
               {"--queues", "two", "a whole number from 1 to 16"},
               {"--loss", "1.5", "a probability from 0 to 1"},
               {"--dir", "/a,b", "no comma, bracket, quote, backslash or blank"}};
  for (const auto& one : wrong) {
    const auto options = parse({one.option, one.text});
    ASSERT_FALSE(options.ok());
    const std::string refused =
        std::string("invalid ") + one.option + "=\"" + one.text + "\": expected ";
    EXPECT_NE(options.sentence().find(refused), std::string::npos) << options.sentence();
    EXPECT_NE(options.sentence().find(one.expected), std::string::npos) << options.sentence();
  }
}

TEST(FaultDice, TheSameSeedRollsTheSameFates) {
  SwitchFaults faults;
  faults.loss = 0.3;
  faults.corrupt = 0.3;
  faults.truncate = 0.3;
  faults.seed = 9;
  FaultDice first(faults), second(faults);
  for (int i = 0; i < 1000; ++i) {
    const FrameFate a = first.roll(100), b = second.roll(100);
    EXPECT_EQ(a.lost, b.lost);
    EXPECT_EQ(a.flipped_bit, b.flipped_bit);
    EXPECT_EQ(a.bytes_left, b.bytes_left);
    EXPECT_LT(a.flipped_bit, 800u);
    if (a.truncated) {
      EXPECT_GE(a.bytes_left, 1u);
      EXPECT_LT(a.bytes_left, 100u);
    }
  }
}

TEST(FaultDice, RatesAreThoseAskedFor) {
  SwitchFaults faults;
  faults.loss = 0.3;
  faults.duplicate = 0.1;
  faults.reorder = 0.2;
  FaultDice dice(faults);
  uint32_t lost = 0, duplicated = 0, reordered = 0;
  constexpr uint32_t kRolls = 100'000;
  for (uint32_t i = 0; i < kRolls; ++i) {
    const FrameFate fate = dice.roll(64);
    lost += fate.lost;
    duplicated += fate.duplicated;
    reordered += fate.overtaken_by != 0;
    EXPECT_FALSE(fate.corrupted || fate.truncated);
  }
  EXPECT_NEAR(lost, 0.3 * kRolls, 1000);
  EXPECT_NEAR(duplicated, 0.1 * kRolls, 1000);
  EXPECT_NEAR(reordered, 0.2 * kRolls, 1000);
}

TEST(FaultDice, BurstsLoseSoManyInARow) {
  SwitchFaults faults;
  faults.burst_loss = 0.01;
  faults.burst_frames = 10;
  FaultDice dice(faults);
  uint32_t run = 0, bursts = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (dice.roll(64).lost) {
      ++run;
    } else if (run != 0) {
      EXPECT_EQ(run % 10, 0u);
      run = 0;
      ++bursts;
    }
  }
  EXPECT_GT(bursts, 500u);
}

TEST(StationTable, LearnsMovesAndForgetsNobodyEarly) {
  StationTable table;
  EXPECT_EQ(table.find(0x020000000001), StationTable::kUnknown);
  table.learn(0x020000000001, 3);
  EXPECT_EQ(table.find(0x020000000001), 3u);
  table.learn(0x020000000001, 5);
  EXPECT_EQ(table.find(0x020000000001), 5u);
  for (uint64_t i = 2; i < 200; ++i) table.learn(0x020000000000 + i, static_cast<uint32_t>(i % 8));
  for (uint64_t i = 2; i < 200; ++i) EXPECT_EQ(table.find(0x020000000000 + i), i % 8);
}

TEST(StationTable, GroupAddressesAreNobodys) {
  StationTable table;
  table.learn(0xffffffffffff, 1);
  table.learn(0x010000000000, 1);
  table.learn(0, 1);
  EXPECT_EQ(table.find(0xffffffffffff), StationTable::kUnknown);
  EXPECT_EQ(table.find(0x010000000000), StationTable::kUnknown);
  EXPECT_EQ(table.find(0), StationTable::kUnknown);
}

TEST(StationTable, SurvivesMoreStationsThanItHolds) {
  StationTable table;
  for (uint64_t i = 1; i < 100'000; ++i) table.learn(i << 8, static_cast<uint32_t>(i % 8));
  table.learn(0x02ffffffff00, 7);
  EXPECT_EQ(table.find(0x02ffffffff00), 7u);
}

TEST(SwitchProcess, MakesItsSocketsAndRemovesThem) {
  const ScratchDirectory scratch;
  SwitchProcess network(3, scratch.path(), {});
  for (int port = 0; port < 3; ++port) {
    struct stat found {};
    ASSERT_EQ(stat((scratch.path() + "/sw_" + std::to_string(port) + ".sock").c_str(), &found), 0);
    EXPECT_TRUE(S_ISSOCK(found.st_mode));
  }
  EXPECT_NE(network.stop().find("forwarded 0"), std::string::npos);
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

TEST(SwitchProcess, DiesWithItsParent) {
  const ScratchDirectory scratch;
  const auto said = run_processes(1, 30, [&](uint32_t, Meeting&) -> std::string {
    new SwitchProcess(2, scratch.path(), {});  // never stopped: this process just ends
    return "";
  });
  EXPECT_EQ(said[0], "");
  for (int i = 0; i < 500 && !scratch.entries().empty(); ++i) usleep(10'000);
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

}  // namespace
}  // namespace pinwire

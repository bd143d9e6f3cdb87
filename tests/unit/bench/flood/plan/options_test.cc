#include "bench/flood/plan/options.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

using Words = std::vector<std::string>;

Options options_of(const Words& words) {
  auto parsed = parse_options("flood", words);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.sentence());
  return parsed.ok() ? *parsed : Options{};
}

std::string refusal_of(const Words& words) {
  auto parsed = parse_options("flood", words);
  EXPECT_FALSE(parsed.ok());
  return parsed.ok() ? "" : parsed.sentence();
}

TEST(Options, DefaultsAreThePapers) {
  const Options options = options_of({});
  EXPECT_EQ(options.limits.iterations, 10000u);
  EXPECT_EQ(options.limits.repetitions, 9u);
  EXPECT_EQ(options.plan.depth, 0u);
  EXPECT_FALSE(options.continuous());
  EXPECT_TRUE(options.help.empty());
}

TEST(Options, Selections) {
  const Options options =
      options_of({"--tests", "flood", "--ops=put_nb,am_short", "--sizes", "8,64K", "--depth-sweep",
                  "--iterations=500", "--repetitions", "7", "--buffers=heap", "--json", "x.json"});
  EXPECT_EQ(options.plan.tests, std::vector{Pattern::kFlood});
  EXPECT_EQ(options.plan.operations, (std::vector{Operation::kPutNb, Operation::kAmShort}));
  EXPECT_EQ(options.plan.sizes, (std::vector<uint64_t>{8, 65536}));
  EXPECT_TRUE(options.plan.depth_sweep);
  EXPECT_EQ(options.limits.iterations, 500u);
  EXPECT_EQ(options.limits.repetitions, 7u);
  EXPECT_TRUE(options.buffers_in_heap);
  EXPECT_EQ(options.json_path, "x.json");
}

TEST(Options, ContinuousTraffic) {
  const Options options =
      options_of({"--auto-start", "--stats-period", "1", "--duration=2.5", "--forward-mode=put",
                  "--burst", "64", "--txpkts", "4K", "--depth=16"});
  EXPECT_TRUE(options.continuous());
  EXPECT_EQ(options.stats_period_s, 1);
  EXPECT_EQ(options.duration_s, 2.5);
  EXPECT_EQ(options.traffic.mode, TrafficMode::kPut);
  EXPECT_EQ(options.traffic.burst, 64u);
  EXPECT_EQ(options.traffic.bytes, 4096u);
  EXPECT_EQ(options.traffic.depth, 16u);
  EXPECT_TRUE(options_of({"-i"}).interactive);
}

TEST(Options, ExplicitLimitsOverruleQuick) {
  const Options options = options_of({"--quick", "--repetitions=9", "--loop-ms=7"});
  EXPECT_TRUE(options.plan.quick);
  EXPECT_EQ(options.limits.repetitions, 9u);
  EXPECT_DOUBLE_EQ(options.limits.seconds_max, 0.007);
}

TEST(Options, OnlyTheKeyFiguresAreMeasuredUnlessMoreIsAskedFor) {
  for (const Words& words : {Words{}, Words{"--quick"}, Words{"--references-json=x"}}) {
    EXPECT_TRUE(options_of(words).plan.key_figures);
    EXPECT_FALSE(options_of(words).tables);
  }
  EXPECT_FALSE(options_of({"--json=x"}).plan.key_figures) << "the file has every measurement";
  EXPECT_FALSE(options_of({"--json=x"}).tables);
  for (const char* word :
       {"--all", "--tests=flood", "--ops=put_nb", "--sizes=8", "--depth-sweep"}) {
    EXPECT_FALSE(options_of({word}).plan.key_figures) << word;
    EXPECT_TRUE(options_of({word}).tables) << word;
  }
}

TEST(Options, HelpIsNotAnError) {
  const std::string help = options_of({"--help"}).help;
  for (const char* word : {"--interactive", "--auto-start", "--stats-period", "--json", "--all",
                           "--references-json", "--depth-sweep", "--quick", "EAL"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word;
  }
}

TEST(Options, MistakesSayWhatToDo) {
  EXPECT_NE(refusal_of({"--nonsense"}).find("--help"), std::string::npos);
  EXPECT_NE(refusal_of({"stray"}).find("--help"), std::string::npos);
  EXPECT_NE(refusal_of({"--ops=put"}).find("put_blocking"), std::string::npos);
  EXPECT_NE(refusal_of({"--tests=burst"}).find("pingpong, flood"), std::string::npos);
  EXPECT_NE(refusal_of({"--sizes=5M"}).find("4M"), std::string::npos);
  EXPECT_NE(refusal_of({"--depth=65536"}).find("65535"), std::string::npos);
  EXPECT_NE(refusal_of({"--iterations=0"}).find("from 1"), std::string::npos);
  EXPECT_NE(refusal_of({"--iterations=many"}).find("--help"), std::string::npos);
  EXPECT_NE(refusal_of({"--repetitions=0"}).find("1000"), std::string::npos);
  EXPECT_NE(refusal_of({"--loop-ms=0"}).find("60000"), std::string::npos);
  EXPECT_NE(refusal_of({"--buffers=stack"}).find("segment or heap"), std::string::npos);
  EXPECT_NE(refusal_of({"--yield=maybe"}).find("always"), std::string::npos);
  EXPECT_NE(refusal_of({"-i", "--forward-mode=macswap"}).find("txonly"), std::string::npos);
  EXPECT_NE(refusal_of({"-i", "--burst=513"}).find("512"), std::string::npos);
  EXPECT_NE(refusal_of({"-i", "--txpkts=5M"}).find("4M"), std::string::npos);
  EXPECT_NE(refusal_of({"-i", "--stats-period=-1"}).find("negative"), std::string::npos);
  EXPECT_NE(refusal_of({"--duration=3"}).find("--auto-start"), std::string::npos);
  for (const char* word : {"--json=x", "--references-json=x", "--all"}) {
    EXPECT_NE(refusal_of({"-i", word}).find("is about the tables"), std::string::npos) << word;
  }
  EXPECT_NE(refusal_of({"--no-references", "--references-json=x"}).find("leave out one"),
            std::string::npos);
}

}  // namespace
}  // namespace pinwire::flood

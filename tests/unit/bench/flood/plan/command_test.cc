#include "bench/flood/plan/command.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

Command good(const char* line) {
  auto parsed = parse_command(line);
  EXPECT_TRUE(parsed.ok()) << line;
  return parsed.ok() ? *parsed : Command{};
}

std::string bad(const char* line) {
  auto parsed = parse_command(line);
  EXPECT_FALSE(parsed.ok()) << line;
  return parsed.ok() ? "" : parsed.sentence();
}

TEST(Command, TheWordsOfTestpmd) {
  EXPECT_EQ(good("").verb, Verb::kNone);
  EXPECT_EQ(good("  # a note").verb, Verb::kNone);
  EXPECT_EQ(good("start").verb, Verb::kStart);
  EXPECT_FALSE(good("start").tx_first);
  EXPECT_TRUE(good("start tx_first").tx_first);
  EXPECT_EQ(good("stop").verb, Verb::kStop);
  EXPECT_EQ(good("  show   port stats\tall \r\n").verb, Verb::kShowPortStats);
  EXPECT_EQ(good("show config fwd").verb, Verb::kShowConfig);
  EXPECT_EQ(good("show lanes").verb, Verb::kShowLanes);
  EXPECT_EQ(good("show credits").verb, Verb::kShowCredits);
  EXPECT_EQ(good("clear port stats all").verb, Verb::kClearPortStats);
  EXPECT_EQ(good("help").verb, Verb::kHelp);
  EXPECT_EQ(good("quit").verb, Verb::kQuit);
}

TEST(Command, EveryModeCanBeSet) {
  for (const auto& candidate : kTrafficModes) {
    const Command command = good((std::string("set fwd ") + candidate.name).c_str());
    EXPECT_EQ(command.verb, Verb::kSetMode);
    EXPECT_EQ(command.mode, candidate.mode);
    EXPECT_STREQ(entry(candidate.mode).name, candidate.name);
  }
  EXPECT_NE(bad("set fwd macswap").find("txonly"), std::string::npos);
}

TEST(Command, NumbersAndTheirBounds) {
  EXPECT_EQ(good("set burst 512").number, 512u);
  EXPECT_EQ(good("set txpkts 64K").number, 65536u);
  EXPECT_EQ(good("set txpkts 0").number, 0u);
  EXPECT_EQ(good("set depth 65535").number, 65535u);
  EXPECT_NE(bad("set burst 0").find("from 1 to 512"), std::string::npos);
  EXPECT_NE(bad("set burst 513").find("from 1 to 512"), std::string::npos);
  EXPECT_NE(bad("set depth 65536").find("65535"), std::string::npos);
  EXPECT_NE(bad("set txpkts 5M").find("not '5M'"), std::string::npos);
  EXPECT_NE(bad("set txpkts -1").find("not '-1'"), std::string::npos);
}

TEST(Command, EveryDispatchModeAndTheSentenceNamesThem) {
  const std::string sentence = bad("set dispatch signal");
  EXPECT_NE(sentence.find("'signal'"), std::string::npos);
  for (const char* mode : {"poll", "interrupt", "watchdog", "thread", "nicproc"}) {
    const Command command = good((std::string("set dispatch ") + mode).c_str());
    EXPECT_EQ(command.verb, Verb::kSetDispatch);
    EXPECT_STREQ(command.dispatch, mode);
    EXPECT_NE(sentence.find(mode), std::string::npos);
  }
  EXPECT_NE(bad("set dispatch").find("set dispatch MODE"), std::string::npos);
}

TEST(Command, MistakesGetASentence) {
  EXPECT_NE(bad("strat").find("help lists"), std::string::npos);
  EXPECT_NE(bad("set").find("set burst N"), std::string::npos);
  EXPECT_NE(bad("set burst 1 2").find("set burst N"), std::string::npos);
  EXPECT_NE(bad("show").find("show lanes"), std::string::npos);
  EXPECT_NE(bad("start now").find("tx_first"), std::string::npos);
  EXPECT_NE(bad("stop it").find("no arguments"), std::string::npos);
  EXPECT_NE(bad("clear").find("clear port stats all"), std::string::npos);
}

TEST(Command, HelpNamesEveryVerb) {
  const std::string help = command_help();
  for (const char* verb : {"set fwd", "set burst", "set txpkts", "set depth", "set dispatch",
                           "start [tx_first]", "stop", "show port stats all", "show config fwd",
                           "show lanes", "show credits", "clear port stats all", "quit", "help"}) {
    EXPECT_NE(help.find(verb), std::string::npos) << verb;
  }
}

}  // namespace
}  // namespace pinwire::flood

#include "bench/flood/words/arguments.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

using Words = std::vector<std::string>;

SplitArguments split(std::vector<const char*> argv) {
  return split_arguments(static_cast<int>(argv.size()), argv.data());
}

TEST(Arguments, EalBeforeTheFirstDashesApplicationAfter) {
  const auto parts = split({"flood", "-l", "0", "--no-huge", "--", "--quick", "--", "x"});
  EXPECT_EQ(parts.program, "flood");
  EXPECT_EQ(parts.eal, (Words{"-l", "0", "--no-huge"}));
  EXPECT_EQ(parts.application, (Words{"--quick", "--", "x"}));
}

TEST(Arguments, WithoutDashesEverythingIsForTheApplication) {
  const auto parts = split({"flood", "-i"});
  EXPECT_TRUE(parts.eal.empty());
  EXPECT_EQ(parts.application, Words{"-i"});
  EXPECT_TRUE(split({}).application.empty());
  EXPECT_TRUE(split({"flood", "--"}).application.empty());
}

TEST(Arguments, EalArgumentsFollowThoseOfTheEnvironment) {
  EXPECT_EQ(join_eal_arguments(nullptr, {"-l", "0"}), "-l 0");
  EXPECT_EQ(join_eal_arguments("--no-huge", {"-l", "0"}), "--no-huge -l 0");
  EXPECT_EQ(join_eal_arguments("--no-huge", {}), "--no-huge");
}

TEST(Arguments, OddWordsAreQuotedAsAShellWould) {
  EXPECT_EQ(join_eal_arguments(nullptr, {"a b", "", "c'd", "\\"}), "'a b' '' 'c'\\''d' '\\'");
}

}  // namespace
}  // namespace pinwire::flood

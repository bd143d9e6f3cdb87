#include "core/base/log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "core/base/result.h"

namespace pinwire {
namespace {

std::vector<std::string>& lines_kept() {
  static std::vector<std::string> lines;
  return lines;
}

void say_hooked() noexcept { log_note("the hook has run"); }

/// Each death test is a process of its own, which is the rank.
[[noreturn]] void burn_as_rank() {
  log_identity(3, 8, "somewhere");
  on_fatal(say_hooked);
  fatal("the %s burned", "roof");
}

TEST(LogDeathTest, FatalSaysWhoAndAborts) {
  EXPECT_EXIT(burn_as_rank(), testing::KilledBySignal(SIGABRT),
              "^pinwire: rank 3/8 on somewhere: fatal: the roof burned\n"
              "pinwire: rank 3/8 on somewhere: the hook has run\n");
}

TEST(LogDeathTest, AChildDoesNotSpeakForTheRank) {
  EXPECT_FALSE(is_child_of_rank());
  log_identity(3, 8, "somewhere");
  on_fatal(say_hooked);
  EXPECT_FALSE(is_child_of_rank());
  EXPECT_EXIT(fatal("the %s burned", "roof"), testing::KilledBySignal(SIGABRT),
              "^pinwire: process [0-9]+, a child of rank 3/8 on somewhere: fatal: the roof "
              "burned\n$");
}

TEST(LogDeathTest, CheckNamesPlaceAndValues) {
  EXPECT_EXIT(check(1 > 2, "numbers are broken", 1, 2), testing::KilledBySignal(SIGABRT),
              "check failed: numbers are broken \\[1, 2\\] at .*log_test.cc");
}

/// Writes the line in brackets, to tell it from one that came by itself.
void write_in_brackets(std::string_view line) {
  std::fprintf(stderr, "[%.*s]", static_cast<int>(line.size()), line.data());
}

[[noreturn]] void say_all_through_a_writer() {
  log_identity(3, 8, "here");
  on_fatal(nullptr);
  log_to_stderr_through(write_in_brackets);
  log_note("a note");
  log_warning("a warning");
  log_through([](std::string_view line) {
    std::fprintf(stderr, "(%.*s)", static_cast<int>(line.size()), line.data());
  });
  log_note("another");
  log_warning("one more");
  fatal("the last word");
}

TEST(LogDeathTest, AWriterGetsAllThatGoesToStderrAndFatalsLastWord) {
  EXPECT_EXIT(say_all_through_a_writer(), testing::KilledBySignal(SIGABRT),
              "^\\[pinwire: rank 3/8 on here: a note\n\\]\\[pinwire: rank 3/8 on here: warning: a "
              "warning\n\\]"
              "\\(pinwire: rank 3/8 on here: another\n\\)\\(pinwire: rank 3/8 on here: warning: "
              "one more\n\\)"
              "\\[pinwire: rank 3/8 on here: fatal: the last word\n\\]$");
}

[[noreturn]] void give_writers_back() {
  log_identity(3, 8, "here");
  on_fatal(nullptr);
  log_to_stderr_through(write_in_brackets);
  log_through(write_in_brackets);
  log_through(nullptr);
  log_to_stderr_through(nullptr);
  log_note("plain");
  fatal("plain");
}

TEST(LogDeathTest, WritersAreGivenBack) {
  EXPECT_EXIT(give_writers_back(), testing::KilledBySignal(SIGABRT),
              "^pinwire: rank 3/8 on here: plain\npinwire: rank 3/8 on here: fatal: plain\n$");
}

/// As if its last bytes were there, so that the next line stays one of its own.
TEST(LogDeathTest, ALineThatIsTooLongIsCutAndEnds) {
  EXPECT_EXIT(fatal("%s", std::string(5000, 'x').c_str()), testing::KilledBySignal(SIGABRT),
              "fatal: x+\n$");
  const auto keep = [](std::string_view line) { lines_kept().emplace_back(line); };
  log_through(keep);
  log_note("%s", std::string(5000, 'x').c_str());
  log_through(nullptr);
  ASSERT_EQ(lines_kept().size(), 1U);
  EXPECT_EQ(lines_kept()[0].size(), 2047U);
  EXPECT_EQ(lines_kept()[0].back(), '\n');
}

TEST(LogDeathTest, ItAbortsWithoutAStandardErrorToo) {
  EXPECT_EXIT((::close(STDERR_FILENO), fatal("unheard")), testing::KilledBySignal(SIGABRT), "");
}

[[noreturn]] void fatal_in_fatals_hook() {
  log_identity(3, 8, "here");
  on_fatal([]() noexcept { fatal("once more"); });
  fatal("the first");
}

TEST(LogDeathTest, AHookThatFailsRunsOnce) {
  EXPECT_EXIT(fatal_in_fatals_hook(), testing::KilledBySignal(SIGABRT),
              "^pinwire: rank 3/8 on here: fatal: the first\n"
              "pinwire: rank 3/8 on here: fatal: once more\n$");
}

TEST(Result, HoldsAValueOrASentence) {
  Result<int> good = 5;
  Result<int> bad = error("port %d is down", 7);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 5);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.sentence(), "port 7 is down");
}

}  // namespace
}  // namespace pinwire

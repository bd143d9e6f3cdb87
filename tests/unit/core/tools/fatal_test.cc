#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "gasnet_tools.h"

namespace {

int write_mine(int fd) { return write(fd, "a client's backtrace\n", 21) == 21 ? 0 : 1; }

/// Text that goes to the descriptor of a pipe.
std::string backtrace_text() {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(gasnett_print_backtrace(ends[1]), 0);
  close(ends[1]);
  char text[4096];
  const ssize_t bytes = read(ends[0], text, sizeof text);
  close(ends[0]);
  return {text, static_cast<size_t>(std::max<ssize_t>(bytes, 0))};
}

class Fatal : public testing::Test {
 protected:
  void TearDown() override {
    gasnett_unsetenv("GASNET_BACKTRACE");
    gasnett_unsetenv("GASNET_BACKTRACE_TYPE");
  }
};

TEST_F(Fatal, ErrorsSayWhatAndWhere) {
  EXPECT_DEATH(gasnett_fatalerror("lost %d of %s", 3, "five"),
               "fatal: lost 3 of five \\(in .* at .*fatal_test.cc:[0-9]+\\)");
  EXPECT_DEATH(gasnett_fatalerror_nopos("lost %d", 3), "fatal: lost 3\n");
  EXPECT_EXIT(gasnett_killmyprocess(7), testing::ExitedWithCode(7), "");
}

TEST_F(Fatal, LocationsAreText) {
  char* place = gasnett_current_loc;
  EXPECT_NE(std::string(place).find("fatal_test.cc:"), std::string::npos);
  std::free(place);
}

void fail_with_backtrace(const char* type) {
  gasnett_setenv("GASNET_BACKTRACE", "1");
  gasnett_setenv("GASNET_BACKTRACE_TYPE", type);
  gasnett_fatalerror_nopos("end");
}

/// The policy of fatal errors is read once: in processes of their own.
TEST_F(Fatal, BacktraceComesBeforeTheAbortIfEnabled) {
  EXPECT_DEATH(gasnett_fatalerror_nopos("end"), "fatal: end\n$");
  EXPECT_DEATH(fail_with_backtrace("MINE"), "fatal: end(.|\n)*a client's backtrace");
  EXPECT_DEATH(fail_with_backtrace("EXECINFO"), "fatal: end(.|\n)*tools_");
}

TEST_F(Fatal, BacktraceTypeChoosesTheMechanism) {
  gasnett_setenv("GASNET_BACKTRACE_TYPE", "EXECINFO");
  gasnett_backtrace_init("program");
  EXPECT_NE(backtrace_text().find("tools_"),
            std::string::npos);  // the program's name in each frame
  gasnett_setenv("GASNET_BACKTRACE_TYPE", "MINE");
  gasnett_backtrace_init("program");
  EXPECT_EQ(backtrace_text(), "a client's backtrace\n");
  gasnett_unsetenv("GASNET_BACKTRACE_TYPE");
  gasnett_backtrace_init("program");
  EXPECT_EQ(backtrace_text(), "a client's backtrace\n");  // the client's comes first
}

}  // namespace

/// As clients define it; the library has a weak one.
extern "C" gasnett_backtrace_type_t gasnett_backtrace_user;
gasnett_backtrace_type_t gasnett_backtrace_user = {"MINE", &write_mine, 1};

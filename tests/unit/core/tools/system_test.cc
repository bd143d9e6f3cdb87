#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gasnet_tools.h"

namespace {

TEST(System, Facts) {
  char name[256];
  ASSERT_EQ(gethostname(name, sizeof name), 0);
  EXPECT_STREQ(gasnett_gethostname(), name);
  EXPECT_NE(std::string(gasnett_exe_name()).find("/tools_"), std::string::npos);
  EXPECT_GT(gasnett_cpu_count(), 0);
  EXPECT_GT(gasnett_getPhysMemSz(0), uint64_t{1} << 20);
  EXPECT_EQ(gasnett_isLittleEndian(), __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  EXPECT_EQ(1 << GASNETT_PAGESHIFT, GASNETT_PAGESIZE);
}

TEST(System, Release) {
  EXPECT_EQ(gasnett_release_version(), GASNETT_RELEASE_VERSION_MAJOR * 1000000ull +
                                           GASNETT_RELEASE_VERSION_MINOR * 10000 +
                                           GASNETT_RELEASE_VERSION_PATCH);
  EXPECT_STREQ(gasnett_release_version_str(),
               _STRINGIFY(GASNET_RELEASE_VERSION_MAJOR) "." _STRINGIFY(
                   GASNET_RELEASE_VERSION_MINOR) "." _STRINGIFY(GASNET_RELEASE_VERSION_PATCH));
}

TEST(System, AffinityBindsThisThread) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  ASSERT_EQ(gasnett_set_affinity(first), 0);
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_EQ(CPU_COUNT(&after), 1);
  EXPECT_TRUE(CPU_ISSET(first, &after));
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_NE(gasnett_set_affinity(-1), 0);
}

void halve_and_maximize(const char* permission) {
  rlimit limit;
  getrlimit(RLIMIT_CPU, &limit);
  const auto wanted = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? 1000 : limit.rlim_max / 2;
  const auto low = limit.rlim_cur;
  setrlimit(RLIMIT_CPU, &limit);
  setenv("GASNET_MAXIMIZE_RLIMIT_CPU", permission, 1);
  if (gasnett_maximize_rlimit(RLIMIT_CPU, "RLIMIT_CPU") == 0) std::exit(2);
  getrlimit(RLIMIT_CPU, &limit);
  std::exit(limit.rlim_cur == (*permission == 'y' ? wanted : low) ? 0 : 1);
}

TEST(SystemDeathTest, LimitsRiseUnlessForbidden) {
  EXPECT_EXIT(halve_and_maximize("yes"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(halve_and_maximize("no"), testing::ExitedWithCode(0), "");
}

TEST(System, MmapGivesZeroedPages) {
  auto* memory = static_cast<char*>(gasnett_mmap(2 * GASNETT_PAGESIZE));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % GASNETT_PAGESIZE, 0u);
  EXPECT_EQ(gasnett_count0s(memory, 2 * GASNETT_PAGESIZE), size_t{2 * GASNETT_PAGESIZE});
  memory[2 * GASNETT_PAGESIZE - 1] = 1;
}

volatile sig_atomic_t signals_seen = 0;
void on_signal(int) { signals_seen = signals_seen + 1; }

TEST(System, SignalHandlersAreReplaced) {
  EXPECT_EQ(gasnett_reghandler(SIGUSR2, on_signal), SIG_DFL);
  raise(SIGUSR2);
  EXPECT_EQ(signals_seen, 1);
  EXPECT_EQ(gasnett_reghandler(SIGUSR2, SIG_DFL), on_signal);
  EXPECT_DEATH(gasnett_reghandler(SIGKILL, on_signal), "signal 9 takes no handler");
}

TEST(System, TraceCallsAreExpressions) {
  int line = 1;
  if (GASNETT_TRACE_ENABLED) GASNETT_TRACE_PRINTF("%d", line);
  GASNETT_TRACE_PRINTF_FORCE("%s", "x"), GASNETT_STATS_PRINTF("%d", ++line);
  GASNETT_TRACE_SETMASK(GASNETT_TRACE_GETMASK());
  GASNETT_STATS_DUMP(1);
  EXPECT_EQ(line, 2);  // arguments are evaluated
}

GASNETT_IDENT(tools_test_ident, "$ToolsTest: here $");
GASNETT_INLINE(twice) int twice(int value) { return 2 * value; }
GASNETT_NEVER_INLINE(thrice, int thrice(int value, int)) { return 3 * value; }

TEST(System, Decorators) {
  if_pf(twice(0)) FAIL();
  if_pt(thrice(1, 2) != 3) FAIL();
  int evaluated = 0;
  GASNETT_UNUSED_ARGS8(++evaluated, 1, 2, 3, 4, 5, 6, ++evaluated);
  EXPECT_EQ(evaluated, 2);
  gasnett_assume(evaluated == 2);
  gasnett_spinloop_hint();
  gasnett_sched_yield();
  gasnett_flush_streams();
}

}  // namespace

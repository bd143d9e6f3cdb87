#include "core/base/threads/membarrier.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pinwire {
namespace {

/// A process registers once and for all, so each test asks a child.
template <typename Ask>
bool holds_in_child(Ask&& ask) {
  const pid_t child = fork();
  if (child == 0) _exit(ask() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool has_barriers() {
  return holds_in_child([] { return register_thread_barriers() && register_process_barriers(); });
}

TEST(Membarrier, ThreadsPassBarriersOnceTheirProcessIsRegisteredForThat) {
  if (!has_barriers()) GTEST_SKIP() << "the kernel has no membarrier(2)";
  EXPECT_TRUE(holds_in_child([] { return !pass_thread_barriers(); }));
  EXPECT_TRUE(
      holds_in_child([] { return register_process_barriers() && !pass_thread_barriers(); }));
  EXPECT_TRUE(holds_in_child([] { return register_thread_barriers() && pass_thread_barriers(); }));
}

TEST(Membarrier, AnyProcessMayHaveThoseThatRegisteredPassBarriers) {
  if (!has_barriers()) GTEST_SKIP() << "the kernel has no membarrier(2)";
  EXPECT_TRUE(holds_in_child([] { return pass_process_barriers(); }));
}

}  // namespace
}  // namespace pinwire

// valgrind looks on while signals run handlers in the midst of a client's work: stacks, frames that
// are received in place, and allocation by both sides, the client's in No-Interrupt Sections
// (C1-180).
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/job/launch/run.h"

namespace pinwire_test {
namespace {

void expect_clean(const char* dispatch) {
  const Outcome version = run({"valgrind", "--version"});
  if (version.code != 0) GTEST_SKIP() << "valgrind is not installed";
  // A rank computes until the handlers of its peer's requests have run in its threads.
  const Outcome outcome =
      run({std::getenv("GASNETRUN"), "-n", "2", "valgrind", "--quiet", "--error-exitcode=99",
           "--fair-sched=yes", std::getenv("DISPATCH_JOB"), "300"},
          {"GASNET_DRIVER=shm", std::string("GASNET_DISPATCH=") + dispatch}, "", 280);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("dispatch: ok with 2 ranks"), std::string::npos) << outcome.out;
}

TEST(Memcheck, HandlersInSignalsAllocate) { expect_clean("interrupt"); }
TEST(Memcheck, HandlersInAThreadOfTheLibraryAllocate) { expect_clean("thread"); }

}  // namespace
}  // namespace pinwire_test

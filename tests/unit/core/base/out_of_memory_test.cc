#include "core/base/out_of_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <limits>
#include <new>
#include <thread>

namespace pinwire {
namespace {

/// More than any machine has.
void* allocate_too_much() {
  volatile size_t bytes = std::numeric_limits<size_t>::max() / 4;
  return ::operator new(bytes, std::nothrow);
}
constexpr int kClientsCode = 7;
void clients_handler() { _exit(kClientsCode); }

class FatalOutOfMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's operator new asks no handler";
#endif
  }
};

TEST_F(FatalOutOfMemoryTest, EndsACallWithASentence) {
  EXPECT_DEATH(
      {
        const FatalOutOfMemory whole;
        allocate_too_much();
      },
      "no memory for GASNet: raise the limits");
  EXPECT_DEATH(
      {
        const FatalOutOfMemory outer;
        { const FatalOutOfMemory inner; }
        allocate_too_much();
      },
      "no memory for GASNet: raise the limits");
}

TEST_F(FatalOutOfMemoryTest, LeavesTheClientItsAnswer) {
  EXPECT_EXIT(
      {
        { const FatalOutOfMemory whole; }
        _exit(allocate_too_much() == nullptr ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(
      {
        const FatalOutOfMemory whole;
        std::thread([] { _exit(allocate_too_much() == nullptr ? 0 : 1); }).join();
      },
      testing::ExitedWithCode(0), "^$");
}

TEST_F(FatalOutOfMemoryTest, LeavesTheClientItsHandler) {
  EXPECT_EXIT(
      {
        std::set_new_handler(clients_handler);
        { const FatalOutOfMemory whole; }
        { const FatalOutOfMemory again; }
        allocate_too_much();
      },
      testing::ExitedWithCode(kClientsCode), "^$");
  EXPECT_DEATH(
      {
        { const FatalOutOfMemory whole; }
        std::set_new_handler(clients_handler);
        const FatalOutOfMemory again;
        allocate_too_much();
      },
      "no memory for GASNet: raise the limits");
}

}  // namespace
}  // namespace pinwire

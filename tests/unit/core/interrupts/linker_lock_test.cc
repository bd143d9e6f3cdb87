// The lock that the dynamic linker holds while it calls back.
#include "core/interrupts/linker_lock.h"

#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <thread>

namespace pinwire {
namespace {

struct Seen {
  bool by_own_thread = false, by_another = false;
};
Seen look_in_callback() {
  Seen seen;
  const auto look = [](dl_phdr_info*, size_t, void* at) {
    Seen& seen_here = *static_cast<Seen*>(at);
    seen_here.by_own_thread = holds_linker_lock(gettid());
    std::thread([&] { seen_here.by_another = holds_linker_lock(gettid()); }).join();
    return 1;
  };
  EXPECT_EQ(dl_iterate_phdr(look, &seen), 1);
  return seen;
}

TEST(LinkerLock, IsHeldByTheThreadThatIsCalledBackAndByNoOther) {
  EXPECT_FALSE(look_in_callback().by_own_thread) << "before it is found";
  find_linker_lock();
  find_linker_lock();
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(holds_linker_lock(gettid()));
    const Seen seen = look_in_callback();
    EXPECT_TRUE(seen.by_own_thread);
    EXPECT_FALSE(seen.by_another);
  }
  EXPECT_FALSE(holds_linker_lock(gettid()));
}

}  // namespace
}  // namespace pinwire

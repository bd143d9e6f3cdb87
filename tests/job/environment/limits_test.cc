// A limit of the process under which a job cannot start ends it with a sentence that says which one
// to raise, and never with success, in silence or by a signal of the kernel's.
#include <gtest/gtest.h>

#include "tests/job/launch/launch_fixture.h"

namespace pinwire_test {
namespace {

class Limits : public Launch {
 protected:
  const std::string par_ = std::getenv("ENVIRONMENT_PAR");
  const bool has_dpdk_ = std::getenv("DPDK_BUILT") == std::string("yes");

  /// `limit`: words for the shell's ulimit, for the launcher and all that it starts.
  Outcome facts_under(const std::string& limit, const char* driver, const char* dispatch) const {
    std::vector<std::string> words = {"/bin/sh", "-c", "ulimit " + limit + " && exec \"$@\"", "sh"};
    for (const std::string& word : command(2, {par_, "facts"})) words.push_back(word);
    return run(words, environment({std::string("GASNET_DRIVER=") + driver,
                                   std::string("GASNET_DISPATCH=") + dispatch}));
  }
  void expect_sentence(const std::string& limit, const char* driver, const char* advice) const {
    for (const char* dispatch : {"poll", "interrupt"}) {
      const auto outcome = facts_under(limit, driver, dispatch);
      if (outcome.code == 0) continue;  // it was enough
      EXPECT_NE(outcome.err.find(advice), std::string::npos)
          << "ulimit " << limit << " over " << driver << ", " << dispatch << ", code "
          << outcome.code << ":\n"
          << outcome.err;
      EXPECT_EQ(outcome.err.find("bad_alloc"), std::string::npos) << outcome.err;
    }
  }
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;  // its shadow memory needs all of the address space
#else
constexpr bool kIsSanitized = false;
#endif

TEST_F(Limits, OfAddressSpace) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer's memory is above any limit of address space";
  EXPECT_NE(facts_under("-v 100000", "shm", "poll").code, 0);
  for (uint64_t kib = 20'000; kib < 320'000; kib += 5'000)
    expect_sentence("-v " + std::to_string(kib), "shm", "ulimit -v");
  EXPECT_EQ(facts_under("-v 2000000", "shm", "interrupt").code, 0);
}

/// A rank of a pair maps the other's memory, too: below 420,000 KiB it once waited for it in vain.
TEST_F(Limits, OfAddressSpaceForThePeer) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer's memory is above any limit of address space";
  if (!has_dpdk_) GTEST_SKIP() << "built without DPDK";
  for (uint64_t kib = 250'000; kib <= 430'000; kib += 15'000)
    expect_sentence("-v " + std::to_string(kib), "dpdk", "ulimit -v");
  EXPECT_EQ(facts_under("-v 2000000", "dpdk", "interrupt").code, 0);
}

TEST_F(Limits, OfData) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer's memory is above any limit of data";
  EXPECT_NE(facts_under("-d 100000", "shm", "poll").code, 0);
  for (uint64_t kib = 5'000; kib < 300'000; kib += 20'000)
    expect_sentence("-d " + std::to_string(kib), "shm", "ulimit -d");
}

TEST_F(Limits, OfAFilesSize) {
  for (const char* driver : {"shm", "dpdk"}) {
    if (driver == std::string("dpdk") && !has_dpdk_) continue;
    EXPECT_NE(facts_under("-f 0", driver, "poll").code, 0);
    for (const char* blocks : {"0", "8", "64", "1000", "10000", "30000"})
      expect_sentence(std::string("-f ") + blocks, driver, "ulimit -f");
  }
}

TEST_F(Limits, OfTheStack) {
  EXPECT_NE(facts_under("-s 64", "shm", "poll").code, 0);
  for (const char* kib : {"64", "128", "256", "512"})
    expect_sentence(std::string("-s ") + kib, "shm", "ulimit -s");
}

TEST_F(Limits, OfOpenFilesForTheSwitch) {
  if (!has_dpdk_) GTEST_SKIP() << "built without DPDK, and so without a switch";
  EXPECT_NE(facts_under("-n 16", "dpdk", "poll").code, 0);
  for (int files = 16; files < 60; files += 3)
    expect_sentence("-n " + std::to_string(files), "dpdk", "ulimit -n");
}

}  // namespace
}  // namespace pinwire_test

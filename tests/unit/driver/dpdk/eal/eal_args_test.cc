#include "driver/dpdk/eal/eal_args.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pinwire {
namespace {

using Words = std::vector<std::string>;

bool has(const EalPlan& plan, const std::string& word) {
  return std::find(plan.words.begin(), plan.words.end(), word) != plan.words.end();
}

EalRequest plain_request() {
  EalRequest request;
  request.file_prefix = "pw";
  request.cpus = {1, 3};
  request.memory_bytes = uint64_t{50} << 20;
  return request;
}

TEST(SplitWords, SplitsAtBlanksAndKeepsQuotedOnes) {
  EXPECT_EQ(split_words("").value(), Words{});
  EXPECT_EQ(split_words("  \t\n ").value(), Words{});
  EXPECT_EQ(split_words("-l 0,1  --vdev=net_null0").value(),
            (Words{"-l", "0,1", "--vdev=net_null0"}));
  EXPECT_EQ(split_words("a 'b c' \"d e\"").value(), (Words{"a", "b c", "d e"}));
  EXPECT_EQ(split_words("--x='a b',c").value(), (Words{"--x=a b,c"}));
  EXPECT_EQ(split_words("''").value(), (Words{""}));
}

TEST(SplitWords, BackslashEscapesOutsideSingleQuotes) {
  EXPECT_EQ(split_words("a\\ b").value(), (Words{"a b"}));
  EXPECT_EQ(split_words("\"a\\\"b\"").value(), (Words{"a\"b"}));
  EXPECT_EQ(split_words("'a\\b'").value(), (Words{"a\\b"}));
}

TEST(SplitWords, AnOpenQuoteIsAnErrorThatNamesTheVariable) {
  const auto open = split_words("-l '0");
  ASSERT_FALSE(open.ok());
  EXPECT_NE(open.sentence().find("GASNET_EAL_ARGS"), std::string::npos);
}

TEST(PlanEal, SmallPagesWhenHugeOnesDoNotSuffice) {
  const EalPlan plan = plan_eal(plain_request());
  EXPECT_TRUE(has(plan, "--no-huge"));
  EXPECT_TRUE(has(plan, "50"));
  EXPECT_TRUE(has(plan, "--no-pci"));
  EXPECT_TRUE(has(plan, "--iova-mode=va"));
  EXPECT_TRUE(has(plan, "--file-prefix=pw"));
  EXPECT_TRUE(has(plan, "--lcores=0@(1,3)"));
  EXPECT_FALSE(has(plan, "--in-memory"));
}

TEST(PlanEal, MemoryIsOfMemoryFilesUnlessTheUserChoosesAHugetlbfs) {
  EalRequest request = plain_request();
  EXPECT_TRUE(plan_eal(request).in_memory_files);
  for (const char* word : {"--huge-dir=/huge", "--legacy-mem", "--socket-mem=64"}) {
    request.given = {word};
    EXPECT_FALSE(plan_eal(request).in_memory_files) << word;
  }
  for (const char* word : {"--no-huge", "--in-memory"}) {
    request.given = {word, "-m", "64"};
    EXPECT_TRUE(plan_eal(request).in_memory_files) << word;
  }
}

TEST(PlanEal, MemoryIsWholeMebibytesThatHoldAll) {
  EalRequest request = plain_request();
  ++request.memory_bytes;
  const EalPlan plan = plan_eal(request);
  EXPECT_TRUE(has(plan, "51"));
  EXPECT_EQ(plan.file_bytes, uint64_t{51} << 20);
}

TEST(PlanEal, HugePagesOnlyWhenEnoughForAllRanksOfTheHost) {
  EalRequest request = plain_request();
  request.ranks_on_host = 4;
  request.huge_bytes_free = uint64_t{199} << 20;
  EXPECT_TRUE(has(plan_eal(request), "--no-huge"));
  request.huge_bytes_free = uint64_t{200} << 20;
  EXPECT_TRUE(has(plan_eal(request), "--in-memory"));
  EXPECT_TRUE(has(plan_eal(request), "--single-file-segments"));
  request.huge = HugePages::kNever;
  EXPECT_TRUE(has(plan_eal(request), "--no-huge"));
  request.huge = HugePages::kAlways;
  request.huge_bytes_free = 0;
  EXPECT_FALSE(has(plan_eal(request), "--no-huge"));
}

TEST(PlanEal, TheUsersWordsWin) {
  EalRequest request = plain_request();
  request.given = {"-l",        "2",     "--file-prefix",    "mine",
                   "--no-huge", "-m512", "--vdev=net_null0", "--iova-mode=pa"};
  const EalPlan plan = plan_eal(request);
  EXPECT_TRUE(std::equal(request.given.begin(), request.given.end(), plan.words.begin()));
  for (const std::string& word : plan.words) {
    EXPECT_FALSE(word.starts_with("--lcores") || word == "--file-prefix=pw" ||
                 word == "--iova-mode=va")
        << word;
  }
  EXPECT_EQ(std::count(plan.words.begin(), plan.words.end(), "--no-huge"), 1);
  EXPECT_TRUE(has(plan, "--no-pci")) << "a vdev is meant, no physical device";
}

TEST(PlanEal, WordsWithoutADeviceLeaveTheFabricsDevice) {
  EXPECT_FALSE(names_device({}));
  EXPECT_FALSE(names_device({"-l", "0-1", "--no-huge", "--log-level=3"}));
  EXPECT_TRUE(names_device({"-l", "0", "--vdev=net_null0"}));
  EXPECT_TRUE(names_device({"-a", "0000:17:00.0"}));
  EalRequest request = plain_request();
  request.given = {"--log-level=3"};
  EXPECT_TRUE(has(plan_eal(request), "--no-pci"));
}

TEST(PlanEal, AllowingAPciDeviceKeepsThePciBus) {
  EalRequest request = plain_request();
  request.given = {"-a", "0000:17:00.0"};
  EXPECT_FALSE(has(plan_eal(request), "--no-pci"));
  EXPECT_FALSE(has(plan_eal(request), "--iova-mode=va"));
  request.given.clear();
  request.physical = true;
  EXPECT_FALSE(has(plan_eal(request), "--no-pci"));
  request.given = {"--vdev=net_null0"};
  EXPECT_TRUE(has(plan_eal(request), "--no-pci")) << "the user's word is a virtual device";
}

}  // namespace
}  // namespace pinwire

// Values of all ranks: in their order, and of one size.
#include "core/bootstrap/gather_values.h"

#include <gtest/gtest.h>

#include <string>

namespace pinwire {
namespace {

/// Rank 1 of 3, to which others have told bytes, or whose launcher is gone.
class ThreeRanks final : public Bootstrap {
 public:
  std::string others[2];
  bool is_gone = false;

  const char* name() const noexcept override { return "test"; }
  Rank rank() const noexcept override { return 1; }
  Rank rank_count() const noexcept override { return 3; }
  uint64_t job_key() const noexcept override { return 1; }
  Result<std::vector<std::vector<std::byte>>> all_gather(std::span<const std::byte> mine) override {
    if (is_gone) return error("the launcher is gone");
    std::vector<std::vector<std::byte>> all(3);
    all[0] = bytes_of(others[0]);
    all[1].assign(mine.begin(), mine.end());
    all[2] = bytes_of(others[1]);
    return all;
  }
  Status barrier() override { return success(); }
  const char* job_environment(const char*) const noexcept override { return nullptr; }
  void leaving(int, AfterIt) noexcept override {}

 private:
  static std::vector<std::byte> bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
};

struct Letters {
  char first, second;
};

TEST(GatherValues, GivesThoseOfAllRanksInTheirOrder) {
  ThreeRanks job;
  job.others[0] = "ab";
  job.others[1] = "yz";
  auto all = gather_values(job, Letters{'m', 'n'});
  ASSERT_TRUE(all.ok());
  std::string text;
  for (const Letters& letters : *all) text += {letters.first, letters.second};
  EXPECT_EQ(text, "abmnyz");
}

TEST(GatherValues, RefusesAValueOfAnotherSize) {
  for (const char* other : {"", "a", "abc"}) {
    ThreeRanks job;
    job.others[0] = "ab";
    job.others[1] = other;
    auto all = gather_values(job, Letters{'m', 'n'});
    ASSERT_FALSE(all.ok());
    EXPECT_NE(all.sentence().find("rank 2 sent"), std::string::npos) << all.sentence();
    EXPECT_NE(all.sentence().find("run the same build"), std::string::npos) << all.sentence();
  }
}

TEST(GatherValues, PassesOnThatRanksCannotBeReached) {
  ThreeRanks job;
  job.is_gone = true;
  EXPECT_EQ(gather_values(job, 1).sentence(), "the launcher is gone");
}

}  // namespace
}  // namespace pinwire

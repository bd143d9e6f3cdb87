#include "core/base/files/owner_umask.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <vector>

namespace pinwire {
namespace {

std::vector<mode_t> umasks_set;  // by all of this program, in order

/// Puts the umask back that was there before.
class OwnerUmaskTest : public testing::Test {
 protected:
  void begin_with(mode_t umask) {
    ::umask(umask);
    umasks_set.clear();
  }
  ~OwnerUmaskTest() override { ::umask(before_); }

 private:
  const mode_t before_ = ::umask(0);
};

TEST_F(OwnerUmaskTest, TakesNothingFromTheOwnerAndWhatItTookFromOthersForAsLongAsItLives) {
  begin_with(0327);
  {
    const OwnerUmask owners;
    EXPECT_EQ(current_umask(), 0027U);
  }
  EXPECT_EQ(current_umask(), 0327U);
}

/// Other threads of a client make files meanwhile.
TEST_F(OwnerUmaskTest, SetsNoOtherUmaskInBetween) {
  begin_with(0327);
  { const OwnerUmask owners; }
  EXPECT_EQ(umasks_set, (std::vector<mode_t>{0027, 0327}));
}

TEST_F(OwnerUmaskTest, SetsNothingWhereTheOwnerKeepsAllRights) {
  for (const mode_t umask : {0, 0077}) {
    begin_with(umask);
    { const OwnerUmask owners; }
    EXPECT_TRUE(umasks_set.empty());
    EXPECT_EQ(current_umask(), umask);
  }
}

TEST_F(OwnerUmaskTest, IsKnownWithoutProc) {
  begin_with(0327);
  EXPECT_EQ(current_umask("/nowhere"), 0327U);
  EXPECT_EQ(umasks_set, (std::vector<mode_t>{0777, 0327}));
  EXPECT_EQ(current_umask(), 0327U);
}

}  // namespace
}  // namespace pinwire

/// Instead of the C library's, for this program.
mode_t umask(mode_t mode) noexcept {
  pinwire::umasks_set.push_back(mode);
  return reinterpret_cast<mode_t (*)(mode_t)>(::dlsym(RTLD_NEXT, "umask"))(mode);
}

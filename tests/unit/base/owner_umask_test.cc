#include "core/base/owner_umask.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

mode_t umask_now() {
  const mode_t now = ::umask(0);
  ::umask(now);
  return now;
}

TEST(OwnerUmask, TakesNothingFromTheOwnerAndWhatItTookFromOthersForAsLongAsItLives) {
  const mode_t before = ::umask(0327);
  {
    const OwnerUmask owners;
    EXPECT_EQ(umask_now(), 0027U);
  }
  EXPECT_EQ(umask_now(), 0327U);
  ::umask(before);
}

}  // namespace
}  // namespace pinwire

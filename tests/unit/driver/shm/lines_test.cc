#include "driver/shm/lines.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/files/file_inode.h"

namespace pinwire::shm {
namespace {

constexpr uint64_t kKey = 0x1234'5678'9abc'def0;

TEST(Lines, APeerReadsWhatTheOwnerSays) {
  auto own = Lines::create(kKey, 3);
  ASSERT_TRUE(own.ok()) << own.sentence();
  auto peer = Lines::map(own->address(), kKey, 3);
  ASSERT_TRUE(peer.ok()) << peer.sentence();
  own->close_file();
  EXPECT_FALSE(peer->of(5).here.shows(1));
  own->of(5).here.say(1, 42);
  EXPECT_EQ(own->of(5).here.notify(1), 0u);
  EXPECT_TRUE(peer->of(5).here.shows(1));
  EXPECT_EQ(peer->of(5).here.value(1), 42u);
  EXPECT_FALSE(peer->of(5).over.shows(1));
  EXPECT_FALSE(peer->of(kBarrierLines - 1).here.shows(1));
}

TEST(Lines, WhoSleepsIsNamedOnceTheOwnerIsTold) {
  auto own = Lines::create(kKey, 0);
  ASSERT_TRUE(own.ok()) << own.sentence();
  auto peer = Lines::map(own->address(), kKey, 0);
  ASSERT_TRUE(peer.ok()) << peer.sentence();
  for (BarrierLine* line : {&peer->of(0).here, &peer->of(kBarrierLines - 1).over}) {
    line->await(4);
    if (line->sleeps.load() == 0) {  // else this kernel passes no barriers
      EXPECT_EQ(line->notify(1), 0u);
    }
    peer->tell_owner();
    EXPECT_EQ(line->notify(2), 4u);
    EXPECT_EQ(line->notify(3), 0u);
  }
}

/// A pid that means another process here names any file.
TEST(Lines, ThoseOfOthersAreRefused) {
  auto own = Lines::create(kKey, 3);
  ASSERT_TRUE(own.ok()) << own.sentence();
  EXPECT_FALSE(Lines::map(own->address(), kKey + 1, 3).ok());
  EXPECT_FALSE(Lines::map(own->address(), kKey, 4).ok());
  EXPECT_FALSE(Lines::map({getpid(), 9999, 1}, kKey, 3).ok());
  const int other = memfd_create("other", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(other, 100), 0);
  EXPECT_FALSE(Lines::map({getpid(), other, inode_of(other)}, kKey, 3).ok());
  close(other);
}

}  // namespace
}  // namespace pinwire::shm

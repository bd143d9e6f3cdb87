#include "driver/shm/wake_pipe.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace pinwire::shm {
namespace {

bool is_readable(const WakePipe& pipe) {
  pollfd waiting{pipe.fd(), POLLIN, 0};
  return poll(&waiting, 1, 0) == 1;
}

TEST(WakePipe, APeerWakesUntilItIsDrained) {
  auto own = WakePipe::create();
  ASSERT_TRUE(own.ok()) << own.sentence();
  auto peer = WakePipe::open(getpid(), own->address());
  ASSERT_TRUE(peer.ok()) << peer.sentence();
  EXPECT_FALSE(is_readable(*own));
  for (int round = 0; round < 3; ++round) {
    peer->wake();
    peer->wake();
    EXPECT_TRUE(is_readable(*own));
    own->drain();
    EXPECT_FALSE(is_readable(*own));
  }
}

TEST(WakePipe, AFullOneStaysReadableAndBlocksNobody) {
  auto own = WakePipe::create();
  ASSERT_TRUE(own.ok());
  for (int i = 0; i < 100'000; ++i) own->wake();
  EXPECT_TRUE(is_readable(*own));
  own->drain();
  EXPECT_FALSE(is_readable(*own));
}

TEST(WakePipe, WakingOneThatIsGoneHarmsNobody) {
  auto own = WakePipe::create();
  ASSERT_TRUE(own.ok());
  auto peer = WakePipe::open(getpid(), own->address());
  ASSERT_TRUE(peer.ok());
  { const WakePipe gone = std::move(*own); }
  peer->wake();
}

TEST(WakePipe, OneThatCannotBeOpenedGetsASentence) {
  auto missing = WakePipe::open(getpid(), {9999, 1});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.sentence().find("one user"), std::string::npos);
}

}  // namespace
}  // namespace pinwire::shm

// LocalEnd asks the engine and the pins for facts of memory here.
#include "am/path/local_end.h"

#include <gtest/gtest.h>

#include "tests/unit/am/one_peer.h"

namespace pinwire {
namespace {

class LocalEnds : public test::WithOnePeer {
 protected:
  void SetUp() override {
    WithOnePeer::SetUp();
    engine.own_base = reinterpret_cast<uint64_t>(own_);
    engine.own_bytes = sizeof own_;
    engine.drivers[0].own_key = 11;
    engine.drivers[0].own_read_key = 12;
  }
  void TearDown() override {
    engine.own_bytes = 0;
    engine.own_base = 0;
    engine.drivers[0].own_key = engine.drivers[0].own_read_key = kNoRegion;
    engine.drivers[0].own_stays = true;
    WithOnePeer::TearDown();
  }
  LocalEnd end(const void* address, bool is_written = false) {
    return {
        .route = routes[test::kOnePeer], .address = address, .bytes = 8, .is_written = is_written};
  }

  std::byte own_[64];
  std::byte other_[8];
};

TEST_F(LocalEnds, ASourceHasTheKeyToReadAndADestinationTheKeyToWrite) {
  EXPECT_EQ(end(own_).key(), 12u);
  EXPECT_EQ(end(own_, true).key(), 11u);
  EXPECT_EQ(end(other_).key(), kNoRegion);
  EXPECT_EQ(end(own_ + 60).key(), kNoRegion) << "a part of it is elsewhere";
}

/// C1-146: the source of a LongAsync is read until its reply.
TEST_F(LocalEnds, OnlyASegmentThatStaysIsSaidToStay_C1_146) {
  const LocalEnd here = end(own_);
  EXPECT_TRUE(here.stays(here.key()));
  EXPECT_FALSE(here.stays(13)) << "the key of a further segment";
  engine.drivers[0].own_stays = false;
  EXPECT_FALSE(here.stays(here.key()));
  engine.drivers[0].own_stays = true;
  engine.drivers[0].own_read_key = kNoRegion;
  EXPECT_FALSE(here.stays(here.key())) << "it has no key";
}

TEST_F(LocalEnds, PinsWhereTheDriverOfTheRoutePinsOnDemand) {
  EXPECT_TRUE(end(own_).pins());
  demands[0] = nullptr;
  EXPECT_FALSE(end(own_).pins());
}

TEST_F(LocalEnds, MemoryOfADeviceIsNotTheHosts) {
  LocalEnd here = end(own_);
  EXPECT_TRUE(here.is_hosts());
  here.is_device = true;
  EXPECT_FALSE(here.is_hosts());
}

}  // namespace
}  // namespace pinwire

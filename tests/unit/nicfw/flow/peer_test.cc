#include "nicfw/flow/peer.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr Flow kAll[] = {Flow::kRequest, Flow::kReply, Flow::kOneSided};

/// Responses travel with the replies: the other flows have nothing to wait for then.
TEST(Peer, OwesResponsesInTheFlowOfReplies) {
  Peer peer;
  for (const Flow flow : kAll) EXPECT_FALSE(peer.has_waiting(flow)) << static_cast<int>(flow);
  peer.responses.shorts.last = 3;
  for (const Flow flow : kAll) {
    EXPECT_EQ(peer.has_waiting(flow), flow == Flow::kReply) << static_cast<int>(flow);
  }
}

TEST(Peer, HasOperationsThatWaitInTheirFlowAlone) {
  for (const Flow waiting : kAll) {
    Peer peer;
    peer.send[static_cast<size_t>(waiting)].ops.longs.last = 3;
    for (const Flow flow : kAll) {
      EXPECT_EQ(peer.has_waiting(flow), flow == waiting) << static_cast<int>(flow);
    }
  }
}

}  // namespace
}  // namespace pinwire

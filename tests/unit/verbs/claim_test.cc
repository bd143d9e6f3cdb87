#include "driver/verbs/claim.h"

#include <gtest/gtest.h>

namespace pinwire::verbs {
namespace {

TEST(Claim, OneSidedWorkGoesByTheConnectionThatEndsIt) {
  for (const bool is_iwarp : {false, true}) {
    EXPECT_EQ(link_of(Claim::kRequest, is_iwarp), MessageClass::kRequest);
    EXPECT_EQ(link_of(Claim::kReply, is_iwarp), MessageClass::kReply);
  }
  EXPECT_EQ(link_of(Claim::kOneSided, false), MessageClass::kReply);
  EXPECT_EQ(link_of(Claim::kOneSided, true), MessageClass::kRequest)
      << "a message may not overtake the put ahead of it";
}

}  // namespace
}  // namespace pinwire::verbs

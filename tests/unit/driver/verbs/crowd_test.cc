// Crowds of ranks that exhaust what the work of a lane shares: nobody waits for ever (C1-154), and
// no request meets a receiver without a buffer.
#include <random>

#include "tests/unit/driver/verbs/many_hosts.h"

namespace pinwire {
namespace {

/// Work that fills the pools of the ranks that handle requests.
enum class Filler { kCopiedPuts, kPinnedPuts, kMediums, kUnpinnedGets, kLargeUnpinnedPuts };

Work filler(ManyHosts& hosts, Filler kind, Rank from, Rank to) {
  switch (kind) {
    case Filler::kCopiedPuts:
      return hosts.one_sided(Op::kPut, from, to, 1024, true);
    case Filler::kPinnedPuts:
      return hosts.one_sided(Op::kPut, from, to, 1024, false);
    case Filler::kMediums:
      return hosts.message(from, to, MessageClass::kRequest, 1024);
    case Filler::kUnpinnedGets:
      return hosts.one_sided(Op::kGet, from, to, 1024, true);
    case Filler::kLargeUnpinnedPuts:
      return hosts.one_sided(Op::kPut, from, to, 20'000, true);
  }
  return {};
}

using Fillings = testing::TestWithParam<Filler>;

/// Ranks 3 to 7 flood ranks 0 to 2 with requests and then compute; those start requests to each
/// other, and fill their pools with one more kind of work before they poll.
TEST_P(Fillings, HandlersThatReplyFindRoom_C1_154) {
  constexpr Rank kRanks = 8, kCore = 3;
  ManyHosts hosts(kRanks, 256);
  hosts.meet();
  uint64_t replied = 0, alone = 0;  // a message ends twice: with its handler, and with its reply
  for (uint32_t i = 0; i < 600; ++i) {
    for (Rank from = kCore; from < kRanks; ++from) {
      for (Rank to = 0; to < kCore; ++to) {
        replied += hosts.post(from, hosts.message(from, to, MessageClass::kRequest));
      }
      hosts.turn(from);
    }
  }
  const bool is_message = GetParam() == Filler::kMediums;
  for (Rank from = 0; from < kCore; ++from) {
    for (Rank to = 0; to < kCore; ++to) {
      if (to == from) continue;
      for (uint32_t i = 0; i < 100; ++i) {
        replied += hosts.post(from, hosts.message(from, to, MessageClass::kRequest));
      }
      while (hosts.post(from, filler(hosts, GetParam(), from, to)))
        ++(is_message ? replied : alone);
    }
  }
  for (uint32_t i = 0; i < 1000; ++i) {
    for (Rank rank = 0; rank < kCore; ++rank) hosts.turn(rank);
  }
  EXPECT_TRUE(hosts.reaches(2 * replied + alone));
  EXPECT_EQ(hosts.fabric().counters().rnr_naks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Crowd, Fillings,
                         testing::Values(Filler::kCopiedPuts, Filler::kPinnedPuts, Filler::kMediums,
                                         Filler::kUnpinnedGets, Filler::kLargeUnpinnedPuts));

/// Rank 0 computes, and has fewer buffers than senders.
TEST(Crowd, OneSidedWorkPassesAReceiverThatComputes) {
  if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "each sender has buffers of its own";
  constexpr int kReceives = 32;
  ManyHosts hosts(40, 32, 1, {.receives_max = kReceives});
  hosts.meet(1);
  for (Rank from = 1; from < hosts.ranks(); ++from) {
    EXPECT_TRUE(hosts.post(from, hosts.message(from, 0, MessageClass::kRequest)));
    EXPECT_FALSE(hosts.post(from, hosts.message(from, 0, MessageClass::kRequest)));
  }
  for (const Op op : {Op::kGet, Op::kPut}) {
    for (Rank from = 1; from < hosts.ranks(); ++from) {
      ASSERT_TRUE(hosts.post(from, hosts.one_sided(op, from, 0, 4096, false)));
    }
    for (uint32_t i = 0; i < 500; ++i) {
      for (Rank from = 1; from < hosts.ranks(); ++from) hosts.turn(from);
    }
  }
  for (Rank from = 1; from < hosts.ranks(); ++from) EXPECT_EQ(hosts.finished(from), 2u) << from;
  EXPECT_GT(hosts.fabric().counters().rnr_naks, 0u);
}

/// How often a rank posts such work to the others in turn until it is refused.
uint32_t posted(ManyHosts& hosts, Work work) {
  uint32_t count = 0;
  for (Rank refusals = 0; refusals < hosts.ranks(); ++work.peer) {
    if (work.peer == hosts.ranks()) work.peer = 1;
    hosts.post(0, work) ? (++count, refusals = 0) : ++refusals;
  }
  return count;
}

/// Nothing completes here, whether for want of a buffer at the receiver or of a packet.
TEST(Crowd, WhatRequestsTakeLeavesRoomForOneSidedWorkAndBothForReplies_C1_154) {
  ManyHosts hosts(8, 256);
  hosts.meet(1);
  hosts.fabric().set_manual(true);
  EXPECT_GT(posted(hosts, hosts.message(0, 1, MessageClass::kRequest, 1024)), 100u);
  EXPECT_EQ(posted(hosts, hosts.message(0, 1, MessageClass::kRequest, 1024)), 0u);
  EXPECT_GT(posted(hosts, hosts.one_sided(Op::kPut, 0, 1, 1024, true)), 20u);
  EXPECT_EQ(posted(hosts, hosts.one_sided(Op::kGet, 0, 1, 1024, true)), 0u);
  EXPECT_GT(posted(hosts, hosts.message(0, 1, MessageClass::kReply, 1024)), 20u);
  // Without a buffer goes what needs none.
  EXPECT_GT(posted(hosts, hosts.message(0, 1, MessageClass::kReply)), 100u);
  hosts.fabric().set_manual(false);
}

TEST(Crowd, RequestsLeaveCompletionsToOneSidedWorkAndBothToReplies_C1_154) {
  if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "so few completions are refused";
  ManyHosts hosts(8, 256, 1, {.completions_max = 128});
  hosts.meet(1);
  hosts.fabric().set_manual(true);
  EXPECT_GT(posted(hosts, hosts.message(0, 1, MessageClass::kRequest)), 10u);
  EXPECT_GT(posted(hosts, hosts.one_sided(Op::kPut, 0, 1, 8, false)), 10u);
  EXPECT_EQ(posted(hosts, hosts.message(0, 1, MessageClass::kRequest)), 0u);
  EXPECT_GT(posted(hosts, hosts.message(0, 1, MessageClass::kReply)), 10u);
  EXPECT_EQ(posted(hosts, hosts.one_sided(Op::kPut, 0, 1, 8, false)), 0u);
  hosts.fabric().set_manual(false);
}

/// How often rank 0 posts such work to rank 1, which answers, and takes none of its completions.
uint32_t posted_untaken(ManyHosts& hosts, const Work& work) {
  constexpr uint32_t kRefusalsMax = 1000;
  uint32_t count = 0;
  for (uint32_t refusals = 0; refusals < kRefusalsMax; ++refusals) {
    if (hosts.post(0, work)) ++count, refusals = 0;
    hosts.turn(1);
    Recv replies[8];
    const uint32_t found = hosts.at(0).recv(0, RecvFilter::kRepliesOnly, replies);
    if (found != 0) hosts.at(0).give_back(0, {replies, found});
  }
  return count;
}

/// A completion that nobody has taken keeps a ticket, though its entry of the completion queue is
/// free again.
TEST(Crowd, UntakenCompletionsOfRequestsLeaveTicketsToOneSidedWorkAndBothToReplies_C1_154) {
  if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "so few completions are refused";
  constexpr uint32_t kEighth = 16;
  ManyHosts hosts(2, 256, 1, {.completions_max = 8 * kEighth});
  hosts.meet();
  Work request = hosts.message(0, 1, MessageClass::kRequest);
  Work reply = hosts.message(0, 1, MessageClass::kReply);
  request.flags = reply.flags = kWorkCopied;
  const Work put = hosts.one_sided(Op::kPut, 0, 1, 8, false);
  EXPECT_GT(posted_untaken(hosts, request), 5 * kEighth);
  EXPECT_GE(posted_untaken(hosts, put), kEighth - 2);
  EXPECT_EQ(posted_untaken(hosts, request), 0u);
  EXPECT_GE(posted_untaken(hosts, reply), kEighth - 2);
  EXPECT_EQ(posted_untaken(hosts, put), 0u);
}

/// Too few to each peer for a completion of their own take entries of the completion queue, until
/// they are asked after.
TEST(Crowd, RequestsToManyPeersGetTheirCompletionsBack) {
  constexpr int kEach = 15, kRounds = 10;
  ManyHosts hosts(50, 32, 1, {.completions_max = 1024});
  hosts.meet(1);
  for (int round = 0; round < kRounds; ++round) {
    for (Rank to = 1; to < hosts.ranks(); ++to) {
      for (int i = 0; i < kEach; ++i) {
        int turns = 0;
        for (; !hosts.post(0, hosts.message(0, to, MessageClass::kRequest)); ++turns) {
          ASSERT_LT(turns, 1000) << "round " << round << ", rank " << to;
          hosts.all_turn();
        }
      }
    }
  }
  EXPECT_TRUE(hosts.reaches(uint64_t{2} * kRounds * kEach * (hosts.ranks() - 1)));
}

TEST(Crowd, LentBuffersLeaveHalfOfThemToRepliesAndAllElse_C1_154) {
  constexpr uint64_t kBytes = 1024;
  ManyHosts hosts(2, 256);
  hosts.meet();
  std::vector<Lent> lent;
  for (;;) {
    lent.push_back(hosts.at(0).lend(0, 1, kBytes));
    if (lent.back().payload == nullptr) break;
  }
  lent.pop_back();
  EXPECT_GT(lent.size(), 100u);
  EXPECT_TRUE(hosts.post(0, hosts.message(0, 1, MessageClass::kReply, kBytes)));
  for (const Lent& each : lent) hosts.at(0).take_back(0, each);
}

TEST(Crowd, LargeBouncesOfPutsLeaveSomeToReplies_C1_154) {
  ManyHosts hosts(8, 256);
  hosts.meet(1);
  hosts.fabric().set_manual(true);
  Work request = hosts.one_sided(Op::kPut, 0, 1, 20'000, true);
  request.op = Op::kPutSend;
  request.head = ManyHosts::kHead;
  request.head_bytes = sizeof ManyHosts::kHead;
  Work reply = request;
  reply.cls = MessageClass::kReply;
  EXPECT_GT(posted(hosts, request), 4u);
  EXPECT_GT(posted(hosts, hosts.one_sided(Op::kPut, 0, 1, 20'000, true)), 0u);
  EXPECT_GT(posted(hosts, reply), 0u);
  hosts.fabric().set_manual(false);
}

struct Storm {
  Rank ranks;
  uint32_t depth;
  uint32_t works;  ///< of each rank
};

using Storms = testing::TestWithParam<Storm>;

/// Each rank starts works of all kinds to all others; some do not look for a while.
TEST_P(Storms, EverythingEnds) {
  constexpr uint32_t kRoundsMax = 100'000;
  const auto [ranks, depth, works] = GetParam();
  ManyHosts hosts(ranks, depth, ranks);
  hosts.meet();
  std::mt19937_64 random(ranks);
  std::vector<uint32_t> left(ranks, works), absent(ranks);
  uint64_t unstarted = uint64_t{ranks} * works, all = 0;
  for (uint32_t rounds = 0; unstarted != 0; ++rounds) {
    ASSERT_LT(rounds, kRoundsMax) << unstarted << " works find no room";
    for (Rank from = 0; from < ranks; ++from) {
      if (absent[from] != 0) {
        --absent[from];
        continue;
      }
      if (random() % 50 == 0) absent[from] = static_cast<uint32_t>(random() % 200);
      for (uint32_t i = 0; i < 8 && left[from] != 0; ++i) {
        const Rank to = (from + 1 + static_cast<Rank>(random() % (ranks - 1))) % ranks;
        const auto kind = static_cast<Filler>(random() % 5);
        if (!hosts.post(from, filler(hosts, kind, from, to))) break;
        all += kind == Filler::kMediums ? 2 : 1;
        --left[from], --unstarted;
      }
      hosts.turn(from);
    }
  }
  EXPECT_TRUE(hosts.reaches(all));
  EXPECT_EQ(hosts.fabric().counters().rnr_naks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Crowd, Storms,
                         testing::Values(Storm{8, 256, 4000}, Storm{16, 256, 1000},
                                         Storm{32, 256, 400}, Storm{32, 2, 100}));

}  // namespace
}  // namespace pinwire

/* Names of endpoints: gex_EP_QueryIndex and gex_TM_TranslateRankToEP (the additions, 3.4 to 3.6).
 */
#include "../ex.h"

enum { kMany = 2, kWho = 200, kAnswer = 201 };
static gex_EP_t made[kMany]; /* the same on all ranks; made by the first case that wants them */

/* ---- handlers of those endpoints ------------------------------------------------------------- */

static _Atomic int asked, answered, wrong;

/* The one who asks says which index it meant. */
static void on_who(gex_Token_t token, gex_AM_Arg_t meant) {
  static gex_HSL_t lock = GEX_HSL_INITIALIZER;
  gex_Token_Info_t info;
  EXPECT(asked >= 0); /* it orders what this rank knows before (cases.h) */
  gex_Token_Info(token, &info, GEX_TI_EP);
  gex_HSL_Lock(&lock);
  if (gex_EP_QueryIndex(info.gex_ep) != (gex_EP_Index_t)meant) ++wrong;
  if (gex_EP_QueryIndex(endpoint) != 0) ++wrong;
  gex_HSL_Unlock(&lock);
  ++asked;
  gex_AM_ReplyShort1(token, kAnswer, 0, (gex_AM_Arg_t)gex_EP_QueryIndex(info.gex_ep));
}
static void on_answer(gex_Token_t token, gex_AM_Arg_t index) {
  (void)token;
  if (index == 0) ++wrong;
  ++answered;
}

static void make_endpoints(void) {
  if (made[0] != GEX_EP_INVALID) return;
  for (int i = 0; i < kMany; ++i) {
    gex_AM_Entry_t table[] = {
        {kWho, (gex_AM_Fn_t)on_who, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "who"},
        {kAnswer, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL,
         "answer"}};
    EXPECT_EQ(gex_EP_Create(&made[i], client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
    EXPECT_EQ(gex_EP_RegisterHandlers(made[i], table, 2), GASNET_OK);
  }
  barrier();
}

/* Both endpoints of each rank: the last rank first, its second endpoint first. */
static gex_Rank_t make_team(gex_TM_t tms[kMany], gex_EP_Location_t members[kMany * kNodesMax]) {
  gex_Rank_t count = 0;
  make_endpoints();
  for (gex_Rank_t rank = nodes; rank-- > 0;)
    for (int i = kMany; i-- > 0;)
      members[count++] = (gex_EP_Location_t){rank, gex_EP_QueryIndex(made[i])};
  gex_TM_Create(tms, kMany, team, members, count, NULL, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  return count;
}

static void drop_team(gex_TM_t tms[kMany]) {
  barrier();
  for (int i = 0; i < kMany; ++i) gex_TM_Destroy(tms[i], NULL, GEX_FLAG_GLOBALLY_QUIESCED);
  barrier();
}

/* ---- cases ----------------------------------------------------------------------------------- */

CASE(members_of_the_first_team, "EX-038 EX-041") {
  EXPECT_EQ(gex_EP_QueryIndex(gex_TM_QueryEP(team)), 0);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const gex_EP_Location_t member = gex_TM_TranslateRankToEP(team, rank, 0);
    EXPECT_EQ(member.gex_rank, gex_TM_TranslateRankToJobrank(team, rank));
    EXPECT_EQ(member.gex_ep_index, 0);
  }
}

/* Ranks of it are none of the job. */
CASE(members_of_a_team_in_reverse, "EX-038 EX-041") {
  gex_TM_t reverse = GEX_TM_INVALID;
  gex_TM_Split(&reverse, team, 0, (int)(nodes - me), NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const gex_EP_Location_t member = gex_TM_TranslateRankToEP(reverse, rank, 0);
    EXPECT(member.gex_rank == nodes - 1 - rank && member.gex_ep_index == 0);
    EXPECT_EQ(member.gex_rank, gex_TM_TranslateRankToJobrank(reverse, rank));
  }
  barrier();
  gex_TM_Destroy(reverse, NULL, GEX_FLAG_GLOBALLY_QUIESCED);
}

CASE(members_that_are_further_endpoints, "EX-032 EX-038 EX-041 EX-042") {
  gex_TM_t tms[kMany];
  gex_EP_Location_t members[kMany * kNodesMax];
  const gex_Rank_t count = make_team(tms, members);
  for (int i = 0; i < kMany; ++i) {
    for (gex_Rank_t rank = 0; rank < count; ++rank) {
      const gex_EP_Location_t member = gex_TM_TranslateRankToEP(tms[i], rank, 0);
      EXPECT_EQ(member.gex_rank, members[rank].gex_rank);
      EXPECT_EQ(member.gex_ep_index, members[rank].gex_ep_index);
      EXPECT_EQ(member.gex_rank, gex_TM_TranslateRankToJobrank(tms[i], rank));
    }
    const gex_EP_Location_t self = gex_TM_TranslateRankToEP(tms[i], gex_TM_QueryRank(tms[i]), 0);
    EXPECT(self.gex_rank == me && self.gex_ep_index == gex_EP_QueryIndex(gex_TM_QueryEP(tms[i])));
  }
  for (gex_Rank_t job = 0; job < nodes; ++job)
    EXPECT_EQ(gex_TM_TranslateJobrankToRank(tms[0], job), kMany * (nodes - 1 - job));
  drop_team(tms);
}

/* A location names one endpoint: a message by it comes to the one of that index, where the handler
 * asks for it, which it may, also with a lock held. */
CASE(a_location_names_one_endpoint, "EX-032 EX-035") {
  gex_TM_t tms[kMany];
  gex_EP_Location_t members[kMany * kNodesMax];
  const gex_Rank_t count = make_team(tms, members);
  asked = answered = wrong = 0;
  barrier();
  for (gex_Rank_t rank = 0; rank < count; ++rank) {
    const gex_EP_Location_t member = gex_TM_TranslateRankToEP(tms[0], rank, 0);
    gex_AM_RequestShort1(gex_TM_Pair(made[0], member.gex_ep_index), member.gex_rank, kWho, 0,
                         (gex_AM_Arg_t)members[rank].gex_ep_index);
    gex_AM_RequestShort1(tms[1], rank, kWho, 0, (gex_AM_Arg_t)members[rank].gex_ep_index);
  }
  AWAIT(answered, 2 * (int)count);
  AWAIT(asked, 2 * (int)count);
  EXPECT_EQ(wrong, 0);
  drop_team(tms);
}

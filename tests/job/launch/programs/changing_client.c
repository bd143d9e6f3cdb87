/* Ranks that give up their rights between gex_Segment_Attach and a later segment:
 *   changing_client all|one
 * All of them, or rank 0 alone, become the user who started the program, or nobody's if that is root. Each puts a
 * number into the other's new segment. */
#include <gasnet_mk.h>
#include <gasnetex.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 1 << 16, kNobodys = 770001 };

static int give_up_rights(void) {
  const uid_t user = getuid() != 0 ? getuid() : kNobodys;
  return setresuid(user, user, user);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t first, second;
  gex_TM_t team;
  gex_Segment_t attached, later;
  if (argc < 2 || gex_Client_Init(&client, &first, &team, "changing", &argc, &argv, 0) != GASNET_OK) return 1;
  if (gex_Segment_Attach(&attached, team, kBytes) != GASNET_OK) return 1;
  const gex_Rank_t me = gex_TM_QueryRank(team), other = 1 - me;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if ((me == 0 || strcmp(argv[1], "all") == 0) && give_up_rights() != 0) return 1;
  if (gex_EP_Create(&second, client, GEX_EP_CAPABILITY_ALL, 0) != GASNET_OK) return 1;
  if (gex_Segment_Create(&later, client, NULL, kBytes, GEX_MK_HOST, 0) != GASNET_OK) return 1;
  gex_EP_BindSegment(second, later, 0);
  if (gex_EP_PublishBoundSegment(team, &second, 1, 0) != GASNET_OK) return 1;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  const gex_TM_t pair = gex_TM_Pair(first, gex_EP_QueryIndex(second));
  void *theirs = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, other, &theirs, NULL, NULL, 0));
  long number = 42 + (long)me;
  if (gex_RMA_PutBlocking(pair, other, theirs, &number, sizeof number, 0) != 0) return 1;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  memcpy(&number, gex_Segment_QueryAddr(later), sizeof number);
  printf("rank %u has %ld\n", (unsigned)me, number);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
  return 0;
}

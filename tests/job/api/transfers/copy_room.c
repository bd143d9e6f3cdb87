/* A copy whose destination does not poll keeps its source's rank from nothing: the rank in between returns from its polls, and
 * handles messages, while rank 2 waits without a call of the library for a word of it (UPC-009, UPC-011). In EVERYTHING, and by
 * messages alone, so that copies want room at the destination. */
#include <gasnetex.h>
#include <gasnet_coll.h>
#include <pinwire.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../job_test.h"

enum { kPieces = 16, kRequests = 8, kBytes = 20000, kPolls = 200, kPatience_s = 60 };

static char word[64]; /* a file that rank 1 removes */

static void *address_of(void *own, gex_TM_t team, gex_Rank_t rank) {
  void *address = NULL;
  gex_Event_Wait(gex_Coll_BroadcastNB(team, rank, &address, &own, sizeof address, 0));
  return address;
}

/* Rank 0 asks rank 1 for copies to rank 2: more than any buffers hold. */
static void ask(unsigned char *source, unsigned char *dest) {
  gasnet_handle_t handles[kRequests];
  for (size_t i = 0; i < kRequests; ++i) {
    pinwire_copy_t pieces[kPieces];
    for (size_t j = 0; j < kPieces; ++j) {
      const size_t at = (i * kPieces + j) * kBytes;
      pieces[j] = (pinwire_copy_t){source + at, dest + at, kBytes};
    }
    handles[i] = pinwire_copy_nb(2, 1, kPieces, pieces);
  }
  gasnet_wait_syncnb_all(handles, kRequests);
}

static void wait_without_polls(void) {
  struct stat there;
  for (int i = 0; i < kPatience_s * 1000 && stat(word, &there) == 0; ++i) usleep(1000);
  EXPECT(stat(word, &there) != 0); /* rank 1 has come back from its polls */
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &endpoint, &team, "copy_room", &argc, &argv, 0) != GASNET_OK) return 3;
  me = gex_TM_QueryRank(team);
  nodes = gex_TM_QuerySize(team);
  EXPECT_EQ(nodes, 3);
  EXPECT_EQ(gex_Segment_Attach(&segment, team, GASNET_PAGESIZE), GASNET_OK);
  const size_t bytes = (size_t)kBytes * kPieces * kRequests;
  unsigned char *memory = calloc(1, bytes), *source = address_of(memory, team, 1), *dest = address_of(memory, team, 2);
  if (me == 0) {
    strcpy(word, "/tmp/pinwire_copy_room_XXXXXX");
    EXPECT(mkstemp(word) >= 0);
  }
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, word, word, sizeof word, 0));
  if (me == 1) fill(memory, bytes, 7);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 0) ask(source, dest);
  if (me == 1) {
    for (int i = 0; i < kPolls; ++i) {
      gasnet_AMPoll();
      usleep(1000);
    }
    EXPECT_EQ(unlink(word), 0);
  }
  if (me == 2) wait_without_polls();
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); /* after rank 0 has all its copies */
  EXPECT(me != 2 || holds(memory, bytes, 7));
  end_job("copy_room");
}

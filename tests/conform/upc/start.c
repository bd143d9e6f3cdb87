/* The start of a job with UPC's library: GASNet's, and a part of each segment for shared arrays. */
#include "upc.h"

void start_shared_job(void) {
  if (gasnet_init(&program_argc, &program_argv) != GASNET_OK) exit(3);
  if (gasnet_attach(NULL, 0, kSegmentBytes + kHeapBytes, 0) != GASNET_OK) gasnet_exit(3);
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  if (nodes > kNodesMax) gasnet_exit(3);
  EXPECT_EQ(gasnet_getSegmentInfo(segments, kNodesMax), GASNET_OK);
  EXPECT(bupc_init(0, (size_t)kSegmentBytes << 8) != 0);
  EXPECT_EQ(bupc_init(kSegmentBytes, kHeapBytes), 0);
  EXPECT(bupc_init(kSegmentBytes, kHeapBytes) != 0);
}

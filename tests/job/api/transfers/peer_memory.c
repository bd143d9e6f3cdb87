/* Prints what this process holds of the heap after attach and a barrier, before any traffic: the test
 * compares jobs of different size. malloc is counted by what it really takes. */
#include <malloc.h>

#include "../job_test.h"

int main(int argc, char **argv) {
  start_job(&argc, &argv, NULL, 0, 4096);
  barrier();
  const struct mallinfo2 heap = mallinfo2();
  if (me == 0) printf("ranks %u heap %zu mapped %zu\n", (unsigned)nodes, heap.uordblks, heap.hblkhd);
  end_job("peer_memory");
}

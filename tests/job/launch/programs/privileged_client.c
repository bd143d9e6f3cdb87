/* A client that ends well, or by SIGABRT, or tells how many descriptors it has once they are at most MAX, or stay
 * more for 20 s: privileged_client [crash | count MAX] */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gasnet.h"

static int open_descriptors(void) {
  DIR *listing = opendir("/proc/self/fd");
  int count = 0;
  while (listing != NULL && readdir(listing) != NULL) ++count;
  if (listing != NULL) closedir(listing);
  return count;
}

int main(int argc, char **argv) {
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  if (gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) != GASNET_OK) return 1;
  if (argc > 1 && strcmp(argv[1], "crash") == 0) abort();
  if (argc > 1 && strcmp(argv[1], "count") == 0) {
    for (int look = 0; look < 20000 && open_descriptors() > atoi(argv[2]); ++look) usleep(1000);
    printf("descriptors %d\n", open_descriptors());
    fflush(stdout);
  }
  gasnet_exit(0);
  return 0;
}

/* A client that ends well, or by SIGABRT: privileged_client [crash] */
#include <stdlib.h>
#include <string.h>

#include "gasnet.h"

int main(int argc, char **argv) {
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  if (gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) != GASNET_OK) return 1;
  if (argc > 1 && strcmp(argv[1], "crash") == 0) abort();
  gasnet_exit(0);
  return 0;
}

/* Linked with --wrap=ibv_reg_dmabuf_mr: a device of RDMA in software knows no dma-buf, and the files that the fakes
 * here hand out are none. Their memory is therefore registered as the host's, by a mapping of its own, under the device
 * memory's addresses. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct ibv_mr *__wrap_ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access) {
  void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
  if (memory == MAP_FAILED) {
    perror("a fake's dma-buf");
    abort();
  }
  return ibv_reg_mr_iova(pd, memory, length, iova, (unsigned)access);
}

#include "memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kAllocations = 256 };

_Atomic unsigned long device_bytes_copied;
static struct device_memory all[kAllocations];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int device_count(void) {
  const char *count = getenv("FAKE_DEVICES");
  return count ? atoi(count) : 2;
}

static size_t whole_pages(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

static int map_twice(struct device_memory *made) {
  made->fd = memfd_create("device", MFD_CLOEXEC);
  if (made->fd < 0 || ftruncate(made->fd, (off_t)whole_pages(made->bytes)) != 0) return -1;
  made->address = mmap(NULL, made->bytes, PROT_NONE, MAP_SHARED, made->fd, 0);
  made->alias = mmap(NULL, made->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made->fd, 0);
  return made->address == MAP_FAILED || made->alias == MAP_FAILED ? -1 : 0;
}

void *device_allocate(int device, void *owner, size_t bytes) {
  void *address = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kAllocations && !address; ++i) {
    if (all[i].bytes != 0) continue;
    struct device_memory made = {NULL, NULL, -1, bytes, device, owner};
    if (map_twice(&made) != 0) break;
    all[i] = made;
    address = made.address;
  }
  pthread_mutex_unlock(&lock);
  return address;
}

int device_free(void *address) {
  int found = -1;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kAllocations; ++i) {
    if (all[i].bytes == 0 || all[i].address != address) continue;
    munmap(all[i].address, all[i].bytes);
    munmap(all[i].alias, all[i].bytes);
    close(all[i].fd);
    all[i].bytes = 0;
    found = 0;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

const struct device_memory *device_find(const void *address) {
  const struct device_memory *found = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kAllocations; ++i) {
    const size_t offset = (size_t)((const char *)address - all[i].address);
    if (all[i].bytes != 0 && (const char *)address >= all[i].address && offset < all[i].bytes) found = &all[i];
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static char *reachable(const void *address) {
  const struct device_memory *memory = device_find(address);
  return memory ? memory->alias + ((const char *)address - memory->address) : (char *)(size_t)address;
}

void device_copy(void *to, const void *from, size_t bytes) {
  memmove(reachable(to), reachable(from), bytes);
  device_bytes_copied += bytes;
}

int device_export(const void *address, size_t bytes) {
  const struct device_memory *memory = device_find(address);
  const int is_one = memory && address == memory->address && bytes % 4096 == 0 && bytes <= whole_pages(memory->bytes);
  return is_one ? fcntl(memory->fd, F_DUPFD_CLOEXEC, 0) : -1;
}

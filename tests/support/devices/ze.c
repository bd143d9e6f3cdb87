/* libze_loader.so.1 for tests: as much of Level Zero as Pinwire calls, with its names and numbers. A device's handle is 1
 * more than its number, a context's is any other than 0. Only a synchronous command list copies. */
#include <stdint.h>
#include <stdlib.h>

#include "memory.h"

enum { kSuccess = 0, kUninitialized = 0x78000001, kInvalidArgument = 0x78000004, kOutOfDeviceMemory = 0x70000003 };

struct queue_description {
  uint32_t type;
  const void *next;
  uint32_t ordinal, index, flags, mode, priority;
};
struct allocation_description {
  uint32_t type;
  const void *next;
  uint32_t flags, ordinal;
};
struct allocation_facts {
  uint32_t type;
  void *next;
  uint32_t memory_type;
  uint64_t id, page_bytes;
};

static int is_initialized;

static int is_device(const void *device) { return (size_t)device >= 1 && (size_t)device <= (size_t)device_count(); }

uint32_t zeInit(uint32_t flags) {
  if (flags != 0 || device_count() == 0) return kUninitialized;
  is_initialized = 1;
  return kSuccess;
}
uint32_t zeMemAllocDevice(void *context, const struct allocation_description *wanted, size_t bytes, size_t alignment, void *device,
                          void **memory) {
  if (!is_initialized || wanted->type != 0x15 || !is_device(device) || (alignment & (alignment - 1)) != 0) return kInvalidArgument;
  *memory = device_allocate((int)((size_t)device - 1), context, bytes);
  return *memory ? kSuccess : kOutOfDeviceMemory;
}
uint32_t zeMemFree(void *context, void *memory) {
  const struct device_memory *found = device_find(memory);
  return found && found->owner == context && device_free(memory) == 0 ? kSuccess : kInvalidArgument;
}
uint32_t zeMemGetAllocProperties(void *context, const void *at, struct allocation_facts *facts, void **device) {
  const struct device_memory *memory = device_find(at);
  if (facts->type != 0x17) return kInvalidArgument;
  facts->memory_type = 0;
  if (!memory || memory->owner != context) return kSuccess;
  facts->memory_type = 2;
  *device = (void *)((size_t)memory->device + 1);
  return kSuccess;
}
uint32_t zeCommandListCreateImmediate(void *context, void *device, const struct queue_description *wanted, void **list) {
  if (!is_initialized || !context || !is_device(device) || wanted->type != 0xe || wanted->mode != 1) return kInvalidArgument;
  *list = malloc(1);
  return kSuccess;
}
uint32_t zeCommandListDestroy(void *list) {
  free(list);
  return kSuccess;
}
uint32_t zeCommandListAppendMemoryCopy(void *list, void *to, const void *from, size_t bytes, void *signals, uint32_t wait_count,
                                       void **waits) {
  if (!list || signals || wait_count != 0 || waits) return kInvalidArgument;
  device_copy(to, from, bytes);
  return kSuccess;
}

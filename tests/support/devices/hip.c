/* libamdhip64.so for tests: as much of the HIP runtime as Pinwire calls, with its names and numbers. Copies are done when
 * their stream is synchronised, and not before. */
#include <pthread.h>
#include <stdlib.h>

#include "memory.h"

enum { kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101 };
enum { kCopiesMax = 64 };

struct facts {
  int type, device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
};
struct stream {
  pthread_mutex_t lock;
  struct { void *to; const void *from; size_t bytes; } copies[kCopiesMax];
  int count;
};

static _Thread_local int current;

int hipGetDeviceCount(int *count) {
  *count = device_count();
  return *count > 0 ? kSuccess : kNoDevice;
}
int hipSetDevice(int device) {
  if (device < 0 || device >= device_count()) return kInvalidDevice;
  current = device;
  return kSuccess;
}
int hipGetDevice(int *device) {
  *device = current;
  return kSuccess;
}
int hipMalloc(void **memory, size_t bytes) {
  *memory = device_allocate(current, NULL, bytes);
  return *memory ? kSuccess : kOutOfMemory;
}
int hipFree(void *memory) { return device_free(memory) == 0 ? kSuccess : kInvalidValue; }
/* As ROCm 6: memory that it does not know is no error. */
int hipPointerGetAttributes(struct facts *facts, const void *at) {
  const struct device_memory *memory = device_find(at);
  const struct facts unknown = {0, -2, NULL, NULL, 0, 0};
  *facts = unknown;
  if (!memory) return kSuccess;
  facts->type = 2;
  facts->device = memory->device;
  facts->device_pointer = (void *)(size_t)at;
  return kSuccess;
}
int hipStreamCreateWithFlags(void **stream, unsigned flags) {
  if (flags != 1) return kInvalidValue;
  struct stream *made = calloc(1, sizeof *made);
  pthread_mutex_init(&made->lock, NULL);
  *stream = made;
  return kSuccess;
}
int hipStreamDestroy(void *stream) {
  free(stream);
  return kSuccess;
}
int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  struct stream *s = stream;
  int code = kOutOfMemory;
  if (kind != 4 || !s) return kInvalidValue;
  pthread_mutex_lock(&s->lock);
  if (s->count < kCopiesMax) {
    s->copies[s->count].to = to;
    s->copies[s->count].from = from;
    s->copies[s->count++].bytes = bytes;
    code = kSuccess;
  }
  pthread_mutex_unlock(&s->lock);
  return code;
}
int hipStreamSynchronize(void *stream) {
  struct stream *s = stream;
  pthread_mutex_lock(&s->lock);
  for (int i = 0; i < s->count; ++i) device_copy(s->copies[i].to, s->copies[i].from, s->copies[i].bytes);
  s->count = 0;
  pthread_mutex_unlock(&s->lock);
  return kSuccess;
}
const char *hipGetErrorString(int code) { return code == kOutOfMemory ? "out of memory" : "a fake's error"; }

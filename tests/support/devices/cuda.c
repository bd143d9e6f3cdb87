/* libcuda.so.1 for tests: as much of CUDA's driver API as Pinwire calls, with its names and numbers. Copies are done when
 * their stream is synchronised, and not before. FAKE_CUDA_UNIFIED=0: devices without unified addressing; FAKE_CUDA_DMABUF=0:
 * without dma-bufs, which are files of memory here (dmabuf.c). */
#include <pthread.h>
#include <stdlib.h>

#include "memory.h"

typedef unsigned long long address_t;
enum { kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3, kInvalidDevice = 101, kInvalidContext = 201 };
enum { kDevicesMax = 8, kDepthMax = 16, kCopiesMax = 64 };

static char contexts[2 * kDevicesMax]; /* their addresses: the primary ones, then others */
static int retained[kDevicesMax];
static int is_initialized;
static _Thread_local void *current[kDepthMax];
static _Thread_local int depth;

struct stream {
  pthread_mutex_t lock;
  struct { void *to; const void *from; size_t bytes; } copies[kCopiesMax];
  int count;
};

int cuInit(unsigned flags) {
  if (flags != 0) return kInvalidValue;
  is_initialized = 1;
  return device_count() > 0 ? kSuccess : 100; /* CUDA_ERROR_NO_DEVICE */
}
int cuDeviceGetCount(int *count) {
  *count = device_count();
  return is_initialized ? kSuccess : kNotInitialized;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && ordinal < device_count() ? kSuccess : kInvalidDevice;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const char *says = getenv(attribute == 41 ? "FAKE_CUDA_UNIFIED" : "FAKE_CUDA_DMABUF");
  (void)device;
  if (attribute != 41 && attribute != 124) return kInvalidValue;
  *value = says ? atoi(says) : 1;
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  if (device < 0 || device >= device_count()) return kInvalidDevice;
  ++retained[device];
  *context = &contexts[device];
  return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return --retained[device] >= 0 ? kSuccess : kInvalidContext; }
int cuCtxPushCurrent_v2(void *context) {
  if (!context || depth == kDepthMax) return kInvalidContext;
  current[depth++] = context;
  return kSuccess;
}
int cuCtxPopCurrent_v2(void **context) {
  if (depth == 0) return kInvalidContext;
  *context = current[--depth];
  return kSuccess;
}
int cuCtxCreate_v2(void **context, unsigned flags, int device) {
  if (flags != 0 || device < 0 || device >= device_count()) return kInvalidValue;
  *context = &contexts[kDevicesMax + device];
  return cuCtxPushCurrent_v2(*context);
}
int cuCtxGetCurrent(void **context) {
  *context = depth != 0 ? current[depth - 1] : NULL;
  return kSuccess;
}
int cuMemAlloc_v2(address_t *memory, size_t bytes) {
  if (depth == 0) return kInvalidContext;
  char *context = current[depth - 1];
  *memory = (address_t)(size_t)device_allocate((int)(context - contexts) % kDevicesMax, context, bytes);
  return *memory ? kSuccess : kOutOfMemory;
}
int cuMemFree_v2(address_t memory) { return device_free((void *)(size_t)memory) == 0 ? kSuccess : kInvalidValue; }
int cuPointerGetAttribute(void *value, int attribute, address_t at) {
  const struct device_memory *memory = device_find((void *)(size_t)at);
  if (!memory) return kInvalidValue;
  if (attribute == 1) *(void **)value = memory->owner;
  if (attribute == 2) *(unsigned *)value = 2;
  if (attribute == 9) *(int *)value = memory->device;
  return attribute == 1 || attribute == 2 || attribute == 9 ? kSuccess : kInvalidValue;
}
int cuMemGetHandleForAddressRange(void *handle, address_t at, size_t bytes, int type, unsigned long long flags) {
  if (type != 1 || flags != 0) return kInvalidValue;
  *(int *)handle = device_export((void *)(size_t)at, bytes);
  return *(int *)handle >= 0 ? kSuccess : kInvalidValue;
}
int cuStreamCreate(void **stream, unsigned flags) {
  if (depth == 0 || flags != 1) return kInvalidValue;
  struct stream *made = calloc(1, sizeof *made);
  pthread_mutex_init(&made->lock, NULL);
  *stream = made;
  return kSuccess;
}
int cuStreamDestroy_v2(void *stream) {
  free(stream);
  return kSuccess;
}
int cuMemcpyAsync(address_t to, address_t from, size_t bytes, void *stream) {
  struct stream *s = stream;
  int code = kOutOfMemory;
  if (depth == 0 || !s) return kInvalidContext;
  pthread_mutex_lock(&s->lock);
  if (s->count < kCopiesMax) {
    s->copies[s->count].to = (void *)(size_t)to;
    s->copies[s->count].from = (void *)(size_t)from;
    s->copies[s->count++].bytes = bytes;
    code = kSuccess;
  }
  pthread_mutex_unlock(&s->lock);
  return code;
}
int cuStreamSynchronize(void *stream) {
  struct stream *s = stream;
  if (!s) return kInvalidValue;
  pthread_mutex_lock(&s->lock);
  for (int i = 0; i < s->count; ++i) device_copy(s->copies[i].to, s->copies[i].from, s->copies[i].bytes);
  s->count = 0;
  pthread_mutex_unlock(&s->lock);
  return kSuccess;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == kOutOfMemory ? "out of memory" : "a fake's error";
  return kSuccess;
}

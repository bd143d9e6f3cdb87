/* A client of a device, in each vendor's own API, by names that are looked up: the tests are compiled without toolkits.
 * They are of Level Zero, whose clients bring handles, as tests/support/devices has them. */
#ifndef PINWIRE_KINDS_DEVICE_H
#define PINWIRE_KINDS_DEVICE_H

#include <dlfcn.h>
#include <gasnet_mk.h>

#include "../job_test.h"

static gex_MK_Class_t device_class;
static void *device_library;

static void *symbol(const char *name) {
  void *found = dlsym(device_library, name);
  EXPECT(found != NULL);
  return found;
}
#define VENDOR(type, name) ((type)symbol(name))

static gex_MK_Create_args_t args_of(int device) {
  gex_MK_Create_args_t args;
  memset(&args, 0, sizeof args);
  args.gex_class = device_class;
  if (device_class == GEX_MK_CLASS_CUDA_UVA) args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
  if (device_class == GEX_MK_CLASS_HIP) args.gex_args.gex_class_hip.gex_hipDevice = device;
  if (device_class == GEX_MK_CLASS_ZE) {
    args.gex_args.gex_class_ze.gex_zeDevice = (void *)((uintptr_t)device + 1);
    args.gex_args.gex_class_ze.gex_zeContext = &device_class;
  }
  return args;
}

static void choose_device(const char *name) {
  device_class = strcmp(name, "hip") == 0 ? GEX_MK_CLASS_HIP : strcmp(name, "ze") == 0 ? GEX_MK_CLASS_ZE : GEX_MK_CLASS_CUDA_UVA;
}

static void open_client_device(void) {
  const char *library = device_class == GEX_MK_CLASS_CUDA_UVA ? "libcuda.so.1"
                        : device_class == GEX_MK_CLASS_HIP    ? "libamdhip64.so"
                                                              : "libze_loader.so.1";
  device_library = dlopen(library, RTLD_NOW);
  if (device_library == NULL) fprintf(stderr, "%s\n", dlerror());
  EXPECT(device_library != NULL);
  if (device_class == GEX_MK_CLASS_CUDA_UVA) {
    void *context = NULL;
    EXPECT_EQ(VENDOR(int (*)(unsigned), "cuInit")(0), 0);
    EXPECT_EQ(VENDOR(int (*)(void **, int), "cuDevicePrimaryCtxRetain")(&context, 0), 0);
    EXPECT_EQ(VENDOR(int (*)(void *), "cuCtxPushCurrent_v2")(context), 0);
  }
  if (device_class == GEX_MK_CLASS_ZE) EXPECT_EQ(VENDOR(int (*)(uint32_t), "zeInit")(0), 0);
}

/* Memory of device 0. */
static unsigned char *client_allocate(size_t bytes) {
  void *memory = NULL;
  if (device_class == GEX_MK_CLASS_CUDA_UVA) {
    EXPECT_EQ(VENDOR(int (*)(void **, size_t), "cuMemAlloc_v2")(&memory, bytes), 0);
  } else if (device_class == GEX_MK_CLASS_HIP) {
    EXPECT_EQ(VENDOR(int (*)(void **, size_t), "hipMalloc")(&memory, bytes), 0);
  } else {
    struct {
      uint32_t type;
      const void *next;
      uint32_t flags, ordinal;
    } wanted = {0x15, NULL, 0, 0};
    EXPECT_EQ(VENDOR(int (*)(void *, void *, size_t, size_t, void *, void **), "zeMemAllocDevice")(&device_class, &wanted, bytes, 64,
                                                                                                  (void *)1, &memory), 0);
  }
  EXPECT(memory != NULL);
  return memory;
}

/* The client's own copies, which prove what is there. */
static unsigned long client_bytes_copied;
static void client_copy(void *to, const void *from, size_t bytes) {
  client_bytes_copied += bytes;
  static void *lane = NULL;
  if (device_class == GEX_MK_CLASS_CUDA_UVA) {
    if (lane == NULL) EXPECT_EQ(VENDOR(int (*)(void **, unsigned), "cuStreamCreate")(&lane, 1), 0);
    EXPECT_EQ(VENDOR(int (*)(uintptr_t, uintptr_t, size_t, void *), "cuMemcpyAsync")((uintptr_t)to, (uintptr_t)from, bytes, lane), 0);
    EXPECT_EQ(VENDOR(int (*)(void *), "cuStreamSynchronize")(lane), 0);
  } else if (device_class == GEX_MK_CLASS_HIP) {
    if (lane == NULL) EXPECT_EQ(VENDOR(int (*)(void **, unsigned), "hipStreamCreateWithFlags")(&lane, 1), 0);
    EXPECT_EQ(VENDOR(int (*)(void *, const void *, size_t, int, void *), "hipMemcpyAsync")(to, from, bytes, 4, lane), 0);
    EXPECT_EQ(VENDOR(int (*)(void *), "hipStreamSynchronize")(lane), 0);
  } else {
    struct {
      uint32_t type;
      const void *next;
      uint32_t ordinal, index, flags, mode, priority;
    } wanted = {0xe, NULL, 0, 0, 0, 1, 0};
    if (lane == NULL)
      EXPECT_EQ(VENDOR(int (*)(void *, void *, void *, void **), "zeCommandListCreateImmediate")(&device_class, (void *)1, &wanted, &lane), 0);
    EXPECT_EQ(VENDOR(int (*)(void *, void *, const void *, size_t, void *, uint32_t, void **), "zeCommandListAppendMemoryCopy")(
                  lane, to, from, bytes, NULL, 0, NULL), 0);
  }
}

#endif

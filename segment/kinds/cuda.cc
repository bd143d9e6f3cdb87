// NVIDIA's devices, by the driver API (EX-049): the primary context, and a stream of the library's
// own, which does not wait for what the client has under way on the device.
//
// Types and numbers are declared here as the driver's ABI has had them since CUDA 4.
#include <cstdio>

#include "segment/kinds/device_memory.h"
#include "segment/kinds/vendor_library.h"

namespace pinwire {
namespace cuda {
namespace {

using Context = void*;
using Stream = void*;
using Address = unsigned long long;
static_assert(sizeof(Address) == sizeof(void*));

constexpr int kSuccess = 0;
constexpr int kUnifiedAddressing = 41;  ///< CU_DEVICE_ATTRIBUTE_...
constexpr int kPointerContext = 1;      ///< CU_POINTER_ATTRIBUTE_..., as the next two
constexpr int kPointerMemoryType = 2;
constexpr int kPointerDevice = 9;
constexpr int kDmabufSupported = 124;       ///< CU_DEVICE_ATTRIBUTE_...
constexpr int kDmabufHandle = 1;            ///< CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
constexpr unsigned kTypeDevice = 2;         ///< CU_MEMORYTYPE_DEVICE
constexpr unsigned kStreamNonBlocking = 1;  ///< CU_STREAM_NON_BLOCKING

/// The driver's functions; those with a suffix are the second version of their ABI.
struct Functions {
  int (*init)(unsigned flags);
  int (*device_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*context_retain)(Context* context, int device);
  int (*context_release)(int device);
  int (*context_push)(Context context);
  int (*context_pop)(Context* context);
  int (*memory_alloc)(Address* memory, size_t bytes);
  int (*memory_free)(Address memory);
  int (*pointer_attribute)(void* value, int attribute, Address memory);
  int (*stream_create)(Stream* stream, unsigned flags);
  int (*stream_destroy)(Stream stream);
  int (*stream_synchronize)(Stream stream);
  int (*copy_async)(Address to, Address from, size_t bytes, Stream stream);
  int (*error_string)(int code, const char** text);
  /// Since CUDA 11.7; nullptr before.
  int (*range_handle)(void* handle, Address memory, size_t bytes, int type,
                      unsigned long long flags);
};

Result<Functions> load_functions() {
  auto library = VendorLibrary::load({"libcuda.so.1"});
  if (!library) return library.error();
  Functions f{};
  library->find(f.init, "cuInit")
      .find(f.device_count, "cuDeviceGetCount")
      .find(f.device_get, "cuDeviceGet")
      .find(f.device_attribute, "cuDeviceGetAttribute")
      .find(f.context_retain, "cuDevicePrimaryCtxRetain")
      .find(f.context_release, "cuDevicePrimaryCtxRelease_v2")
      .find(f.context_push, "cuCtxPushCurrent_v2")
      .find(f.context_pop, "cuCtxPopCurrent_v2")
      .find(f.memory_alloc, "cuMemAlloc_v2")
      .find(f.memory_free, "cuMemFree_v2")
      .find(f.pointer_attribute, "cuPointerGetAttribute")
      .find(f.stream_create, "cuStreamCreate")
      .find(f.stream_destroy, "cuStreamDestroy_v2")
      .find(f.stream_synchronize, "cuStreamSynchronize")
      .find(f.copy_async, "cuMemcpyAsync")
      .find(f.error_string, "cuGetErrorString");
  library->find_if_there(f.range_handle, "cuMemGetHandleForAddressRange");
  if (const char* missing = library->missing()) {
    return error("libcuda.so.1 has no %s; install a driver of CUDA 11 or later", missing);
  }
  return f;
}

Address address_of(const void* memory) noexcept { return reinterpret_cast<Address>(memory); }

class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(const Functions& functions, int device) noexcept : cuda_(functions), device_(device) {
    std::snprintf(label_, sizeof label_, "CUDA device %d", device);
  }
  ~CudaMemory() override {
    if (stream_ != nullptr) {
      const Inside inside(*this);
      cuda_.stream_destroy(stream_);
    }
    if (context_ != nullptr) cuda_.context_release(device_);
  }

  Status open() {
    int is_unified = 0;
    int code = cuda_.device_attribute(&is_unified, kUnifiedAddressing, device_);
    if (code != kSuccess) return failed("cuDeviceGetAttribute", code);
    if (is_unified == 0) {
      return error("%s has no unified addressing, which GEX_MK_CLASS_CUDA_UVA needs (EX-049)",
                   label_);
    }
    code = cuda_.context_retain(&context_, device_);
    if (code != kSuccess) return failed("cuDevicePrimaryCtxRetain", code);
    const Inside inside(*this);
    code = cuda_.stream_create(&stream_, kStreamNonBlocking);
    return code == kSuccess ? success() : failed("cuStreamCreate", code);
  }

  const char* label() const noexcept override { return label_; }

  Result<void*> allocate(uint64_t bytes) override {
    const Inside inside(*this);
    Address memory = 0;
    const int code = cuda_.memory_alloc(&memory, bytes);
    if (code != kSuccess) return failed("cuMemAlloc", code).error();
    return reinterpret_cast<void*>(memory);
  }

  void release(void* memory) noexcept override {
    const Inside inside(*this);
    const int code = cuda_.memory_free(address_of(memory));
    if (code != kSuccess) log_warning("%s", failed("cuMemFree", code).sentence().c_str());
  }

  Status owns(const void* memory, uint64_t bytes) override {
    const Address first = address_of(memory);
    if (auto is_own = owns_byte(first); !is_own) return is_own;
    return owns_byte(first + bytes - 1);
  }

  Result<int> export_dmabuf(const void* base, uint64_t bytes) override {
    int is_supported = 0;
    if (cuda_.range_handle == nullptr ||
        cuda_.device_attribute(&is_supported, kDmabufSupported, device_) != kSuccess ||
        is_supported == 0) {
      return error(
          "%s hands out no dma-buf, which wants CUDA 11.7, Linux 5.12 and NVIDIA's open "
          "kernel modules",
          label_);
    }
    const Inside inside(*this);
    int fd = -1;
    const int code = cuda_.range_handle(&fd, address_of(base), bytes, kDmabufHandle, 0);
    if (code != kSuccess) return failed("cuMemGetHandleForAddressRange", code).error();
    return fd;
  }

  void copy(void* to, const void* from, uint64_t bytes) noexcept override {
    const Inside inside(*this);
    must("cuMemcpyAsync", cuda_.copy_async(address_of(to), address_of(from), bytes, stream_));
    must("cuStreamSynchronize", cuda_.stream_synchronize(stream_));
  }

 private:
  /// The client's own current context comes back.
  class Inside {
   public:
    explicit Inside(CudaMemory& memory) noexcept : memory_(memory) {
      memory.must("cuCtxPushCurrent", memory.cuda_.context_push(memory.context_));
    }
    ~Inside() {
      Context own = nullptr;
      memory_.must("cuCtxPopCurrent", memory_.cuda_.context_pop(&own));
    }
    Inside(const Inside&) = delete;

   private:
    CudaMemory& memory_;
  };

  Status owns_byte(Address at) {
    unsigned type = 0;
    int device = -1;
    Context context = nullptr;
    const bool is_known = cuda_.pointer_attribute(&type, kPointerMemoryType, at) == kSuccess &&
                          cuda_.pointer_attribute(&device, kPointerDevice, at) == kSuccess;
    if (!is_known || type != kTypeDevice || device != device_) {
      return error("0x%llx is not memory of %s", at, label_);
    }
    // Memory that was mapped by hand has none.
    const int code = cuda_.pointer_attribute(&context, kPointerContext, at);
    if (code == kSuccess && context != nullptr && context != context_) {
      return error("0x%llx is of another than the primary context of %s (EX-049)", at, label_);
    }
    return success();
  }

  const char* text_of(int code) const noexcept {
    const char* text = nullptr;
    return cuda_.error_string(code, &text) == kSuccess && text != nullptr ? text : "unknown error";
  }
  Status failed(const char* call, int code) const {
    return error("%s: %s failed: %s (%d)", label_, call, text_of(code), code);
  }
  void must(const char* call, int code) const noexcept {
    if (code != kSuccess) [[unlikely]]
      fatal("%s: %s failed: %s (%d)", label_, call, text_of(code), code);
  }

  const Functions cuda_;
  const int device_;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  char label_[32];
};

}  // namespace
}  // namespace cuda

Result<DeviceMemory*> open_cuda(int device) {
  auto functions = cuda::load_functions();
  if (!functions) return functions.error();
  int count = 0, handle = 0;
  const int code = functions->init(0);
  if (code != cuda::kSuccess || functions->device_count(&count) != cuda::kSuccess) {
    return error("cuInit finds no device (%d); is the kernel's driver loaded?", code);
  }
  if (device < 0 || device >= count || functions->device_get(&handle, device) != cuda::kSuccess) {
    return error("there is no CUDA device %d, but %d of them, counted from 0", device, count);
  }
  return open_memory<cuda::CudaMemory>(*functions, handle);
}

}  // namespace pinwire

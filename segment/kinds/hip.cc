// AMD's devices, by the HIP runtime: a stream of the library's own, which does not wait for what
// the client has under way on the device.
//
// Types and numbers are declared here as HIP's ABI has them in ROCm 5 and 6; the kinds of memory,
// whose numbers differ between these, are not looked at.
#include <cstdio>

#include "segment/kinds/device_memory.h"
#include "segment/kinds/vendor_library.h"

namespace pinwire {
namespace hip {
namespace {

using Stream = void*;

constexpr int kSuccess = 0;
constexpr int kCopyDefault = 4;             ///< hipMemcpyDefault: by the addresses
constexpr unsigned kStreamNonBlocking = 1;  ///< hipStreamNonBlocking

/// hipPointerAttribute_t.
struct PointerFacts {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned flags;
  uint64_t spare[8];  ///< of later versions
};

struct Functions {
  int (*device_count)(int* count);
  int (*device_set)(int device);
  int (*device_get)(int* device);
  int (*memory_alloc)(void** memory, size_t bytes);
  int (*memory_free)(void* memory);
  int (*pointer_facts)(PointerFacts* facts, const void* memory);
  int (*stream_create)(Stream* stream, unsigned flags);
  int (*stream_destroy)(Stream stream);
  int (*stream_synchronize)(Stream stream);
  int (*copy_async)(void* to, const void* from, size_t bytes, int kind, Stream stream);
  const char* (*error_string)(int code);
};

Result<Functions> load_functions() {
  auto library = VendorLibrary::load(
      {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"});
  if (!library) return library.error();
  Functions f{};
  library->find(f.device_count, "hipGetDeviceCount")
      .find(f.device_set, "hipSetDevice")
      .find(f.device_get, "hipGetDevice")
      .find(f.memory_alloc, "hipMalloc")
      .find(f.memory_free, "hipFree")
      .find(f.pointer_facts, "hipPointerGetAttributes")
      .find(f.stream_create, "hipStreamCreateWithFlags")
      .find(f.stream_destroy, "hipStreamDestroy")
      .find(f.stream_synchronize, "hipStreamSynchronize")
      .find(f.copy_async, "hipMemcpyAsync")
      .find(f.error_string, "hipGetErrorString");
  if (const char* missing = library->missing()) {
    return error("libamdhip64.so has no %s; install ROCm 5 or later", missing);
  }
  return f;
}

class HipMemory final : public DeviceMemory {
 public:
  HipMemory(const Functions& functions, int device) noexcept : hip_(functions), device_(device) {
    std::snprintf(label_, sizeof label_, "HIP device %d", device);
  }
  ~HipMemory() override {
    const Inside inside(*this);
    if (stream_ != nullptr) hip_.stream_destroy(stream_);
  }

  Status open() {
    const Inside inside(*this);
    const int code = hip_.stream_create(&stream_, kStreamNonBlocking);
    return code == kSuccess ? success() : failed("hipStreamCreateWithFlags", code);
  }

  const char* label() const noexcept override { return label_; }

  Result<void*> allocate(uint64_t bytes) override {
    const Inside inside(*this);
    void* memory = nullptr;
    const int code = hip_.memory_alloc(&memory, bytes);
    if (code != kSuccess) return failed("hipMalloc", code).error();
    return memory;
  }

  void release(void* memory) noexcept override {
    const Inside inside(*this);
    const int code = hip_.memory_free(memory);
    if (code != kSuccess) log_warning("%s", failed("hipFree", code).sentence().c_str());
  }

  Status owns(const void* memory, uint64_t bytes) override {
    const auto* first = static_cast<const std::byte*>(memory);
    if (auto is_own = owns_byte(first); !is_own) return is_own;
    return owns_byte(first + bytes - 1);
  }

  void copy(void* to, const void* from, uint64_t bytes) noexcept override {
    const Inside inside(*this);
    must("hipMemcpyAsync", hip_.copy_async(to, from, bytes, kCopyDefault, stream_));
    must("hipStreamSynchronize", hip_.stream_synchronize(stream_));
  }

 private:
  /// The client's own current device comes back.
  class Inside {
   public:
    explicit Inside(HipMemory& memory) noexcept : memory_(memory) {
      memory.must("hipGetDevice", memory.hip_.device_get(&clients_));
      memory.must("hipSetDevice", memory.hip_.device_set(memory.device_));
    }
    ~Inside() { memory_.must("hipSetDevice", memory_.hip_.device_set(clients_)); }
    Inside(const Inside&) = delete;

   private:
    HipMemory& memory_;
    int clients_ = 0;
  };

  /// Memory that the host may touch, too, has a host address or is managed: it is not the device's
  /// own.
  Status owns_byte(const std::byte* at) {
    PointerFacts facts{};
    const int code = hip_.pointer_facts(&facts, at);
    const bool is_own = code == kSuccess && facts.device == device_ &&
                        facts.device_pointer != nullptr && facts.host_pointer == nullptr &&
                        facts.is_managed == 0;
    if (is_own) return success();
    return error("%p is not memory of %s", static_cast<const void*>(at), label_);
  }

  Status failed(const char* call, int code) const {
    return error("%s: %s failed: %s (%d)", label_, call, hip_.error_string(code), code);
  }
  void must(const char* call, int code) const noexcept {
    if (code != kSuccess) [[unlikely]]
      fatal("%s: %s failed: %s (%d)", label_, call, hip_.error_string(code), code);
  }

  const Functions hip_;
  const int device_;
  Stream stream_ = nullptr;
  char label_[32];
};

}  // namespace
}  // namespace hip

Result<DeviceMemory*> open_hip(int device) {
  auto functions = hip::load_functions();
  if (!functions) return functions.error();
  int count = 0;
  const int code = functions->device_count(&count);
  if (code != hip::kSuccess) {
    return error("hipGetDeviceCount finds no device (%d); is the kernel's driver loaded?", code);
  }
  if (device < 0 || device >= count) {
    return error("there is no HIP device %d, but %d of them, counted from 0", device, count);
  }
  return open_memory<hip::HipMemory>(*functions, device);
}

}  // namespace pinwire

// Intel's devices, by oneAPI Level Zero: the client's own device and context, and an immediate
// command list that is done with each copy on return.
//
// Types and numbers are declared here as Level Zero 1.0 has them; its ABI only grows.
#include <cstdio>
#include <mutex>

#include "segment/kinds/device_memory.h"
#include "segment/kinds/vendor_library.h"

namespace pinwire {
namespace ze {
namespace {

using CommandList = void*;
using Code = uint32_t;

constexpr Code kSuccess = 0;
constexpr uint32_t kIsQueueDescription = 0xe;  ///< ZE_STRUCTURE_TYPE_..., as the next two
constexpr uint32_t kIsAllocationDescription = 0x15;
constexpr uint32_t kIsAllocationFacts = 0x17;
constexpr uint32_t kSynchronous = 1;  ///< ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
constexpr uint32_t kTypeDevice = 2;   ///< ZE_MEMORY_TYPE_DEVICE
constexpr size_t kAlignment = 4096;

/// ze_command_queue_desc_t
struct QueueDescription {
  uint32_t type = kIsQueueDescription;
  const void* next = nullptr;
  uint32_t ordinal = 0, index = 0, flags = 0;
  uint32_t mode = kSynchronous;
  uint32_t priority = 0;
};
/// ze_device_mem_alloc_desc_t
struct AllocationDescription {
  uint32_t type = kIsAllocationDescription;
  const void* next = nullptr;
  uint32_t flags = 0;
  uint32_t ordinal = 0;
};
/// ze_memory_allocation_properties_t
struct AllocationFacts {
  uint32_t type = kIsAllocationFacts;
  void* next = nullptr;
  uint32_t memory_type = 0;
  uint64_t id = 0;
  uint64_t page_bytes = 0;
};

struct Functions {
  Code (*init)(uint32_t flags);
  Code (*memory_alloc)(void* context, const AllocationDescription* description, size_t bytes,
                       size_t alignment, void* device, void** memory);
  Code (*memory_free)(void* context, void* memory);
  Code (*memory_facts)(void* context, const void* memory, AllocationFacts* facts, void** device);
  Code (*list_create)(void* context, void* device, const QueueDescription* description,
                      CommandList* list);
  Code (*list_destroy)(CommandList list);
  Code (*append_copy)(CommandList list, void* to, const void* from, size_t bytes, void* signals,
                      uint32_t wait_count, void** waits);
};

Result<Functions> load_functions() {
  auto library = VendorLibrary::load({"libze_loader.so.1"});
  if (!library) return library.error();
  Functions f{};
  library->find(f.init, "zeInit")
      .find(f.memory_alloc, "zeMemAllocDevice")
      .find(f.memory_free, "zeMemFree")
      .find(f.memory_facts, "zeMemGetAllocProperties")
      .find(f.list_create, "zeCommandListCreateImmediate")
      .find(f.list_destroy, "zeCommandListDestroy")
      .find(f.append_copy, "zeCommandListAppendMemoryCopy");
  if (const char* missing = library->missing()) {
    return error("libze_loader.so.1 has no %s; install Level Zero 1.0 or later", missing);
  }
  return f;
}

class ZeMemory final : public DeviceMemory {
 public:
  ZeMemory(const Functions& functions, void* device, void* context, uint32_t ordinal) noexcept
      : ze_(functions), device_(device), context_(context), ordinal_(ordinal) {
    std::snprintf(label_, sizeof label_, "ZE device %p", device);
  }
  ~ZeMemory() override {
    if (list_ != nullptr) ze_.list_destroy(list_);
  }

  Status open() {
    const QueueDescription description;
    const Code code = ze_.list_create(context_, device_, &description, &list_);
    return code == kSuccess ? success() : failed("zeCommandListCreateImmediate", code);
  }

  const char* label() const noexcept override { return label_; }

  Result<void*> allocate(uint64_t bytes) override {
    AllocationDescription description;
    description.ordinal = ordinal_;
    void* memory = nullptr;
    const Code code = ze_.memory_alloc(context_, &description, bytes, kAlignment, device_, &memory);
    if (code != kSuccess) return failed("zeMemAllocDevice", code).error();
    return memory;
  }

  void release(void* memory) noexcept override {
    const Code code = ze_.memory_free(context_, memory);
    if (code != kSuccess) log_warning("%s", failed("zeMemFree", code).sentence().c_str());
  }

  Status owns(const void* memory, uint64_t bytes) override {
    const auto* first = static_cast<const std::byte*>(memory);
    if (auto is_own = owns_byte(first); !is_own) return is_own;
    return owns_byte(first + bytes - 1);
  }

  void copy(void* to, const void* from, uint64_t bytes) noexcept override {
    const std::lock_guard guard(appending_);
    const Code code = ze_.append_copy(list_, to, from, bytes, nullptr, 0, nullptr);
    if (code != kSuccess) [[unlikely]]
      fatal("%s: zeCommandListAppendMemoryCopy failed: 0x%x", label_, code);
  }

 private:
  Status owns_byte(const std::byte* at) {
    AllocationFacts facts;
    void* device = nullptr;
    const Code code = ze_.memory_facts(context_, at, &facts, &device);
    if (code == kSuccess && facts.memory_type == kTypeDevice && device == device_) return success();
    return error("%p is not memory of %s in that context", static_cast<const void*>(at), label_);
  }

  Status failed(const char* call, Code code) const {
    return error("%s: %s failed: 0x%x", label_, call, code);
  }

  const Functions ze_;
  void* const device_;
  void* const context_;
  const uint32_t ordinal_;
  CommandList list_ = nullptr;
  std::mutex appending_;  ///< a list is one thread's at a time
  char label_[40];
};

}  // namespace
}  // namespace ze

Result<DeviceMemory*> open_ze(void* device, void* context, uint32_t memory_ordinal) {
  if (device == nullptr || context == nullptr) {
    return error("GEX_MK_CLASS_ZE wants gex_zeDevice and gex_zeContext, the client's own handles");
  }
  auto functions = ze::load_functions();
  if (!functions) return functions.error();
  if (const ze::Code code = functions->init(0); code != ze::kSuccess) {
    return error("zeInit finds no device (0x%x); is the device's driver installed?", code);
  }
  return open_memory<ze::ZeMemory>(*functions, device, context, memory_ordinal);
}

}  // namespace pinwire

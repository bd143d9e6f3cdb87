// The vendors' files against the libraries of tests/support/devices: what is called, with which
// numbers, and what is said where something is missing.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "segment/kinds/device_memory.h"
#include "segment/kinds/vendor_library.h"
#include "tests/support/byte_pattern.h"

namespace pinwire {
namespace {

struct Vendor {
  const char* name;
  const char* library;
  Result<DeviceMemory*> (*open)(int device);
};

Result<DeviceMemory*> open_ze_number(int device) {
  static char context;
  return open_ze(reinterpret_cast<void*>(uintptr_t(device) + 1), &context, 0);
}

const Vendor kVendors[] = {{"CUDA", "libcuda.so.1", open_cuda},
                           {"HIP", "libamdhip64.so", open_hip},
                           {"ZE", "libze_loader.so.1", open_ze_number}};

class Kinds : public testing::TestWithParam<Vendor> {
 protected:
  std::unique_ptr<DeviceMemory> open(int device) {
    auto opened = GetParam().open(device);
    EXPECT_TRUE(opened.ok()) << opened.sentence();
    return std::unique_ptr<DeviceMemory>(opened.ok() ? *opened : nullptr);
  }
};

std::vector<unsigned char> pattern(size_t bytes, unsigned seed) {
  std::vector<unsigned char> made(bytes);
  fill_pattern(made.data(), bytes, seed);
  return made;
}

TEST_P(Kinds, BytesGoThereAndBackAndWithin) {
  const auto device = open(0);
  ASSERT_NE(device, nullptr);
  auto memory = device->allocate(200000);
  ASSERT_TRUE(memory.ok()) << memory.sentence();
  auto* at = static_cast<std::byte*>(*memory);
  const auto sent = pattern(90001, 3);
  std::vector<unsigned char> got(sent.size());
  device->copy(at + 5, sent.data(), sent.size());
  device->copy(at + 100001, at + 5, sent.size());
  device->copy(got.data(), at + 100001, got.size());
  EXPECT_EQ(got, sent);
  device->release(at);
}

TEST(CudaKind, HandsOutDmabufsOfWholePages) {
  auto device = std::unique_ptr<DeviceMemory>(*open_cuda(0));
  auto memory = device->allocate(2 * 4096);
  ASSERT_TRUE(memory.ok());
  auto dmabuf = device->export_dmabuf(*memory, 2 * 4096);
  ASSERT_TRUE(dmabuf.ok()) << dmabuf.sentence();
  const auto sent = pattern(100, 9);
  device->copy(static_cast<std::byte*>(*memory) + 4000, sent.data(), sent.size());
  std::vector<unsigned char> got(sent.size());
  EXPECT_EQ(pread(*dmabuf, got.data(), got.size(), 4000), 100);
  EXPECT_EQ(got, sent);
  close(*dmabuf);
  EXPECT_FALSE(device->export_dmabuf(*memory, 4097).ok());
  setenv("FAKE_CUDA_DMABUF", "0", 1);
  auto none = device->export_dmabuf(*memory, 4096);
  unsetenv("FAKE_CUDA_DMABUF");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.sentence().find("CUDA device 0 hands out no dma-buf"), std::string::npos)
      << none.sentence();
  device->release(*memory);
}

TEST(OtherKinds, HandOutNone) {
  auto device = std::unique_ptr<DeviceMemory>(*open_hip(0));
  auto none = device->export_dmabuf(nullptr, 4096);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.sentence().find("no dma-buf"), std::string::npos) << none.sentence();
}

TEST_P(Kinds, KnowsItsOwnMemory_EX_049) {
  const auto first = open(0), second = open(1);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  auto memory = first->allocate(4096);
  ASSERT_TRUE(memory.ok());
  auto* at = static_cast<std::byte*>(*memory);
  EXPECT_TRUE(first->owns(at, 4096).ok());
  EXPECT_TRUE(first->owns(at + 4095, 1).ok());
  EXPECT_FALSE(first->owns(at, uint64_t{1} << 40).ok()) << "its end is elsewhere";
  EXPECT_FALSE(second->owns(at, 4096).ok()) << "it is of another device";
  const auto own = std::make_unique<char[]>(16);
  const Status hosts = first->owns(own.get(), 16);
  ASSERT_FALSE(hosts.ok());
  EXPECT_NE(hosts.sentence().find(std::string("is not memory of ") + GetParam().name),
            std::string::npos)
      << hosts.sentence();
  first->release(at);
}

TEST_P(Kinds, ALibraryWithoutDevicesIsToldOf) {
  ASSERT_EQ(setenv("FAKE_DEVICES", "0", 1), 0);
  auto opened = GetParam().open(0);
  unsetenv("FAKE_DEVICES");
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.sentence().find("finds no device"), std::string::npos) << opened.sentence();
}

TEST_P(Kinds, ADeviceThatIsNotThereIsToldOf) {
  for (const int device : {2, 4095}) {
    auto opened = GetParam().open(device);
    EXPECT_FALSE(opened.ok()) << device;
  }
}

TEST_P(Kinds, TheCpuCannotTouchTheMemoryOfTheseTests) {
  const auto device = open(0);
  ASSERT_NE(device, nullptr);
  auto memory = device->allocate(4096);
  ASSERT_TRUE(memory.ok());
  EXPECT_DEATH(*static_cast<volatile char*>(*memory) = 1, "");
  device->release(*memory);
}

TEST_P(Kinds, RangesAreLookedUpOnceThereIsOne) {
  const auto device = open(0);
  ASSERT_NE(device, nullptr);
  auto memory = device->allocate(4096);
  ASSERT_TRUE(memory.ok());
  auto* at = static_cast<std::byte*>(*memory);
  BoundRange range;
  range.base = reinterpret_cast<uint64_t>(at);
  range.bytes = 4096;
  range.device = device.get();
  ASSERT_TRUE(engine.bound.add(range));
  EXPECT_EQ(device_at(at, 8), nullptr) << "nobody looks before there is a device";
  engine.has_devices = true;
  EXPECT_EQ(device_at(at, 4096), device.get());
  EXPECT_EQ(device_at(at + 4095, 1), device.get());
  EXPECT_EQ(device_at(at + 4096, 1), nullptr);
  EXPECT_EQ(device_at(at, 0), nullptr);
  EXPECT_DEATH(device_at(at + 4090, 7), "reach beyond a segment of ");
  EXPECT_DEATH(device_at(at - 1, 2), "reach beyond a segment of ");
  engine.has_devices = false;
  engine.bound.remove(range);
  device->release(at);
}

INSTANTIATE_TEST_SUITE_P(Vendors, Kinds, testing::ValuesIn(kVendors),
                         [](const auto& made) { return made.param.name; });

TEST(Cuda, WantsUnifiedAddressing_EX_049) {
  ASSERT_EQ(setenv("FAKE_CUDA_UNIFIED", "0", 1), 0);
  auto opened = open_cuda(0);
  unsetenv("FAKE_CUDA_UNIFIED");
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.sentence().find("unified addressing"), std::string::npos) << opened.sentence();
}

template <typename Function>
Function* function_of(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  return handle != nullptr ? reinterpret_cast<Function*>(dlsym(handle, name)) : nullptr;
}

TEST(Cuda, MemoryOfAnotherContextIsNotItsOwn_EX_049) {
  auto opened = open_cuda(0);
  ASSERT_TRUE(opened.ok());
  const std::unique_ptr<DeviceMemory> device(*opened);
  auto* create = function_of<int(void**, unsigned, int)>("libcuda.so.1", "cuCtxCreate_v2");
  auto* pop = function_of<int(void**)>("libcuda.so.1", "cuCtxPopCurrent_v2");
  auto* allocate = function_of<int(void**, size_t)>("libcuda.so.1", "cuMemAlloc_v2");
  void *context = nullptr, *memory = nullptr;
  ASSERT_EQ(create(&context, 0, 0), 0);
  ASSERT_EQ(allocate(&memory, 64), 0);
  ASSERT_EQ(pop(&context), 0);
  const Status owned = device->owns(memory, 64);
  ASSERT_FALSE(owned.ok());
  EXPECT_NE(owned.sentence().find("another than the primary context"), std::string::npos);
  device->release(memory);
}

TEST(Cuda, TheCurrentContextStaysTheClients) {
  auto opened = open_cuda(1);
  ASSERT_TRUE(opened.ok());
  const std::unique_ptr<DeviceMemory> device(*opened);
  auto* current = function_of<int(void**)>("libcuda.so.1", "cuCtxGetCurrent");
  auto memory = device->allocate(64);
  ASSERT_TRUE(memory.ok());
  char byte = 1;
  device->copy(*memory, &byte, 1);
  void* context = &byte;
  ASSERT_EQ(current(&context), 0);
  EXPECT_EQ(context, nullptr) << "this thread had none";
  device->release(*memory);
}

TEST(Hip, TheCurrentDeviceStaysTheClients) {
  auto opened = open_hip(1);
  ASSERT_TRUE(opened.ok());
  const std::unique_ptr<DeviceMemory> device(*opened);
  auto memory = device->allocate(64);
  ASSERT_TRUE(memory.ok());
  int current = -1;
  ASSERT_EQ(function_of<int(int*)>("libamdhip64.so", "hipGetDevice")(&current), 0);
  EXPECT_EQ(current, 0);
  device->release(*memory);
}

TEST(Ze, WantsTheClientsHandles) {
  auto opened = open_ze(nullptr, nullptr, 0);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.sentence().find("gex_zeDevice"), std::string::npos);
}

TEST(VendorLibrary, TellsWhatIsMissing) {
  auto none = VendorLibrary::load({"libno_such_driver.so.9", "libno_other.so"});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.sentence().find("libno_such_driver.so.9"), std::string::npos) << none.sentence();
  EXPECT_NE(none.sentence().find("LD_LIBRARY_PATH"), std::string::npos);
  auto libc = VendorLibrary::load({"libno_such_driver.so.9", "libc.so.6"});
  ASSERT_TRUE(libc.ok());
  void (*there)() = nullptr;
  void (*not_there)() = nullptr;
  libc->find(there, "malloc").find(not_there, "cuInit");
  EXPECT_NE(there, nullptr);
  EXPECT_STREQ(libc->missing(), "cuInit");
}

}  // namespace
}  // namespace pinwire

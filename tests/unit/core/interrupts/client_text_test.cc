// Whose text is the client's: not that of the objects that hold the locks of the C library.
#include "core/interrupts/client_text.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

namespace pinwire {
namespace {

uintptr_t address_of(const void* at) { return reinterpret_cast<uintptr_t>(at); }
const void* function(const char* name) { return dlsym(RTLD_DEFAULT, name); }
void of_this_program() {}

TEST(ClientText, IsEmptyAtFirst) {
  EXPECT_FALSE(is_client_text(address_of(reinterpret_cast<void*>(of_this_program))));
  EXPECT_FALSE(is_client_text(0));
}

TEST(ClientText, IsTheWholeObjectOfAFunction) {
  const auto* own = reinterpret_cast<const void*>(of_this_program);
  EXPECT_TRUE(add_client_text(own));
  EXPECT_TRUE(add_client_text(own)) << "once more";
  EXPECT_TRUE(is_client_text(address_of(own)));
  EXPECT_TRUE(is_client_text(address_of(own) + 1));
  EXPECT_TRUE(is_client_text(address_of(reinterpret_cast<void*>(address_of))));
  EXPECT_FALSE(is_client_text(address_of(&own))) << "a stack";
  static int variable = 0;
  EXPECT_FALSE(is_client_text(address_of(&variable))) << "data of the same object";
}

TEST(ClientText, PA_020_IsNotThatOfLibrariesThatRegisterNothing) {
  add_client_text(reinterpret_cast<const void*>(of_this_program));
  for (const char* name : {"malloc", "printf", "dlopen", "dl_iterate_phdr", "nanosleep", "_Znwm",
                           "__cxa_throw", "_Unwind_RaiseException", "__tls_get_addr"}) {
    ASSERT_NE(function(name), nullptr) << name;
    EXPECT_FALSE(is_client_text(address_of(function(name)))) << name;
  }
}

/// Copies of a shared object, each of which the dynamic linker takes for another one.
class PlugIns {
 public:
  PlugIns() { std::filesystem::create_directory(folder_); }
  ~PlugIns() { std::filesystem::remove_all(folder_); }
  /// Its function.
  const void* open() {
    const std::string path = folder_ + "/" + std::to_string(count_++) + ".so";
    // It lies beside this program.
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::filesystem::copy_file(here / "libplug_in.so", path);
    void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_NODELETE);
    return opened != nullptr ? dlsym(opened, "of_the_plug_in") : nullptr;
  }

 private:
  const std::string folder_ = testing::TempDir() + "/plug_ins_" + std::to_string(getpid());
  int count_ = 0;
};

/// Until the end: a file that is gone may leave its inode, by which the linker knows it, to
/// another.
PlugIns plug_ins;

/// An object that registers a handler, as a runtime that is a shared library does; and plug-ins
/// that register none.
TEST(ClientText, IsThatOfASharedObjectThatRegisters) {
  const void* at = plug_ins.open();
  const void* other = plug_ins.open();
  ASSERT_TRUE(at != nullptr && other != nullptr && at != other);
  EXPECT_FALSE(is_client_text(address_of(at)));
  EXPECT_TRUE(add_client_text(at));
  EXPECT_TRUE(is_client_text(address_of(at)));
  EXPECT_FALSE(is_client_text(address_of(other)));
}

TEST(ClientText, HasAnyNumberOfObjects) {
  constexpr int kCount = 200;
  std::vector<const void*> functions;
  for (int i = 0; i < kCount; ++i) {
    functions.push_back(plug_ins.open());
    ASSERT_NE(functions.back(), nullptr) << dlerror();
    ASSERT_FALSE(is_client_text(address_of(functions.back()))) << i;
    ASSERT_TRUE(add_client_text(functions.back())) << i;
  }
  for (const void* at : functions) EXPECT_TRUE(is_client_text(address_of(at)));
}

/// libm takes no locks.
TEST(ClientText, IsThatOfTheCLibrarysMathematics) {
  const void* at = function("cos");
  ASSERT_NE(at, nullptr) << "libm";
  EXPECT_FALSE(is_client_text(address_of(at)));
  add_mathematics();
  EXPECT_TRUE(is_client_text(address_of(at)));
  EXPECT_FALSE(is_client_text(address_of(function("qsort")))) << "which libm calls";
}

TEST(ClientText, PA_020_IsNeverThatOfTheObjectWithMalloc) {
  EXPECT_FALSE(add_client_text(function("malloc")));
  EXPECT_FALSE(is_client_text(address_of(function("malloc"))));
  EXPECT_FALSE(add_client_text(nullptr)) << "no object's";
}

}  // namespace
}  // namespace pinwire

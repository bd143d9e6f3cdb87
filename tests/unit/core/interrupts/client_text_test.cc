// Whose text is the client's: not that of the objects that hold the locks of the C library.
#include "core/interrupts/client_text.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <new>

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

/// An object that registers a handler, as a runtime that is a shared library does.
TEST(ClientText, IsThatOfASharedObjectThatRegisters) {
  const void* at = function("cos");
  ASSERT_NE(at, nullptr) << "libm";
  EXPECT_FALSE(is_client_text(address_of(at)));
  EXPECT_TRUE(add_client_text(at));
  EXPECT_TRUE(is_client_text(address_of(at)));
}

TEST(ClientText, PA_020_IsNeverThatOfTheObjectWithMalloc) {
  EXPECT_FALSE(add_client_text(function("malloc")));
  EXPECT_FALSE(is_client_text(address_of(function("malloc"))));
  EXPECT_FALSE(add_client_text(nullptr)) << "no object's";
}

}  // namespace
}  // namespace pinwire

// Advice fits the error.
#include "core/base/descriptors/no_descriptor.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

bool has(int os_error, const char* part) {
  return no_descriptor(os_error).find(part) != std::string::npos;
}

TEST(NoDescriptor, AdviceFitsTheError) {
  EXPECT_TRUE(has(EMFILE, "Too many open files; raise the limit of open files (ulimit -n)"));
  EXPECT_TRUE(has(ENFILE, "(sysctl fs.file-max)"));
  for (const int refusal : {EPERM, EACCES, ENOSYS}) {
    EXPECT_TRUE(has(refusal, "a seccomp profile or a sandbox refuses the call")) << refusal;
    EXPECT_FALSE(has(refusal, "ulimit")) << refusal;
  }
  EXPECT_EQ(no_descriptor(ENOMEM), "Cannot allocate memory");
}

}  // namespace
}  // namespace pinwire

#include "core/launch/hosts/this_host.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

namespace pinwire::launch {
namespace {

TEST(ThisHost, IsTheNodeNameOfTheKernel) {
  utsname names;
  ASSERT_EQ(::uname(&names), 0);
  EXPECT_EQ(this_host(), names.nodename);
}

}  // namespace
}  // namespace pinwire::launch

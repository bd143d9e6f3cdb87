#include "core/launch/process/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

namespace pinwire::launch {
namespace {

using Environment = std::vector<std::string>;

TEST(Environment, AVariableIsSetOnceWhateverItWas) {
  Environment all{"A=1", "AB=2", "A=3"};
  set_variable(all, "A", "4");
  EXPECT_EQ(all, (Environment{"AB=2", "A=4"}));
}

TEST(Environment, AVariableIsFoundByItsWholeName) {
  const Environment all{"AB=2", "A=1=1"};
  EXPECT_STREQ(find_variable(all, "A"), "1=1");
  EXPECT_EQ(find_variable(all, "B"), nullptr);
}

TEST(Environment, AssignmentsBecomeThisProcesssOwn) {
  set_own_variables({"PINWIRE_TEST_A=1=1", "PINWIRE_TEST_B=", "PINWIRE_TEST_C"});
  const auto own = own_environment();
  const auto has = [&own](const char* one) { return std::ranges::count(own, one) == 1; };
  EXPECT_TRUE(has("PINWIRE_TEST_A=1=1"));
  EXPECT_TRUE(has("PINWIRE_TEST_B="));
  EXPECT_EQ(find_variable(own, "PINWIRE_TEST_C"), nullptr);
  set_own_variables({"PINWIRE_TEST_A=2"});
  EXPECT_STREQ(::getenv("PINWIRE_TEST_A"), "2");
  ::unsetenv("PINWIRE_TEST_A");
  ::unsetenv("PINWIRE_TEST_B");
}

}  // namespace
}  // namespace pinwire::launch

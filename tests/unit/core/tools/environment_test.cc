#include <gtest/gtest.h>

#include <cstdlib>

#include "gasnet_tools.h"

namespace {

class Environment : public testing::Test {
 protected:
  void SetUp() override { gasnett_unsetenv("PINWIRE_TEST"); }
  void TearDown() override {
    gasnett_unsetenv("PINWIRE_TEST");
    gasnett_unsetenv("GASNET_VERBOSEENV");
  }
};

TEST_F(Environment, SetIsSeenAndUnsetIsNot) {
  EXPECT_EQ(gasnett_getenv("PINWIRE_TEST"), nullptr);
  gasnett_setenv("PINWIRE_TEST", "x");
  EXPECT_STREQ(gasnett_getenv("PINWIRE_TEST"), "x");
  EXPECT_STREQ(getenv("PINWIRE_TEST"), "x");
}

TEST_F(Environment, DefaultsHoldWhereNothingIsSet) {
  EXPECT_STREQ(gasnett_getenv_withdefault("PINWIRE_TEST", "d"), "d");
  EXPECT_EQ(gasnett_getenv_withdefault("PINWIRE_TEST", nullptr), nullptr);
  EXPECT_EQ(gasnett_getenv_int_withdefault("PINWIRE_TEST", -3, 0), -3);
  EXPECT_EQ(gasnett_getenv_yesno_withdefault("PINWIRE_TEST", 1), 1);
  EXPECT_EQ(gasnett_getenv_dbl_withdefault("PINWIRE_TEST", 0.25), 0.25);
}

TEST_F(Environment, ValuesAreRead) {
  gasnett_setenv("PINWIRE_TEST", "0x10");
  EXPECT_EQ(gasnett_getenv_int_withdefault("PINWIRE_TEST", 0, 0), 16);
  gasnett_setenv("PINWIRE_TEST", "1.5");
  EXPECT_EQ(gasnett_getenv_int_withdefault("PINWIRE_TEST", 0, 1024), 1536);
  EXPECT_EQ(gasnett_getenv_dbl_withdefault("PINWIRE_TEST", 0), 1.5);
  gasnett_setenv("PINWIRE_TEST", "3/8");
  EXPECT_EQ(gasnett_getenv_dbl_withdefault("PINWIRE_TEST", 0), 0.375);
  gasnett_setenv("PINWIRE_TEST", "-1e4");
  EXPECT_EQ(gasnett_getenv_dbl_withdefault("PINWIRE_TEST", 0), -10000);
  gasnett_setenv("PINWIRE_TEST", "no");
  EXPECT_EQ(gasnett_getenv_yesno_withdefault("PINWIRE_TEST", 1), 0);
}

TEST_F(Environment, NonsenseEndsTheProgramWithASentence) {
  gasnett_setenv("PINWIRE_TEST", "perhaps");
  EXPECT_DEATH(gasnett_getenv_yesno_withdefault("PINWIRE_TEST", 0),
               "invalid PINWIRE_TEST=\"perhaps\": expected yes or no");
  EXPECT_DEATH(gasnett_getenv_int_withdefault("PINWIRE_TEST", 0, 0), "a whole number");
  EXPECT_DEATH(gasnett_getenv_int_withdefault("PINWIRE_TEST", 0, 1), "a memory size");
  EXPECT_DEATH(gasnett_getenv_dbl_withdefault("PINWIRE_TEST", 0), "a number, or a fraction");
}

TEST_F(Environment, VerboseModeReportsEachNameOnce) {
  EXPECT_EQ(gasnett_verboseenv(), 0);
  testing::internal::CaptureStderr();
  gasnett_envint_display("PINWIRE_QUIET_NAME", 1, 1, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  gasnett_setenv("GASNET_VERBOSEENV", "1");
  EXPECT_EQ(gasnett_verboseenv(), 1);
  testing::internal::CaptureStderr();
  gasnett_envint_display("PINWIRE_A", 65536, 0, 1);
  gasnett_envint_display("PINWIRE_A", 65536, 0, 1);
  gasnett_envstr_display("PINWIRE_B", nullptr, 1);
  gasnett_envdbl_display("PINWIRE_C", 0.5, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "pinwire: environment: PINWIRE_A = 64 KB\n"
            "pinwire: environment: PINWIRE_B = *not set*   (default)\n"
            "pinwire: environment: PINWIRE_C = 0.5   (default)\n");
}

}  // namespace

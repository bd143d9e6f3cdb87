// The programs of this folder look at directories of their own for what jobs leave behind.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/job/kill_matrix/own_folders.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  pinwire_test::take_own_folders({std::getenv("GASNETRUN"), std::getenv("CLIENT"), argv[0]});
  return RUN_ALL_TESTS();
}

#include "bench/flood/words/table.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({"op", "us"});
  table.row({"put", "0.001634"});
  table.rule();
  table.row({"get"});
  EXPECT_EQ(table.print(),
            "  op         us\n"
            "  -------------\n"
            "  put  0.001634\n"
            "  -------------\n"
            "  get\n");
}

TEST(Table, ACharacterOfSeveralBytesIsOneColumn) {
  Table table({"op", "±%"});
  table.row({"put", "12"});
  EXPECT_EQ(table.print(),
            "  op   ±%\n"
            "  -------\n"
            "  put  12\n");
}

}  // namespace
}  // namespace pinwire::flood

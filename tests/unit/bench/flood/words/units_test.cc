#include "bench/flood/words/units.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pinwire::flood {
namespace {

struct Row {
  double value;
  const char* text;
};

void expect_rows(std::string (*format)(double), std::initializer_list<Row> rows) {
  for (const Row& row : rows) EXPECT_EQ(format(row.value), row.text) << row.value;
}

TEST(Units, TimesHaveTheUnitThatFits) {
  expect_rows(time_text, {{0, "0"},
                          {0.000983, "0.983 ns"},
                          {0.0000983, "0.0983 ns"},
                          {0.00099949, "0.999 ns"},
                          {0.0009996, "1.00 ns"},
                          {0.0119, "11.9 ns"},
                          {0.1634, "163 ns"},
                          {0.99949, "999 ns"},
                          {0.9995, "1.00 us"},
                          {12.3456, "12.3 us"},
                          {-1.5, "-1.50 us"},
                          {999.51, "1.00 ms"},
                          {1204, "1.20 ms"},
                          {4e6, "4.00 s"},
                          {7.2e9, "7200 s"},
                          {std::nan(""), "-"},
                          {INFINITY, "-"}});
}

TEST(Units, RatesHaveTheUnitThatFits) {
  expect_rows(rate_text, {{0, "0"},
                          {1.5, "1.50 /s"},
                          {820, "820 /s"},
                          {12'000, "12.0 k/s"},
                          {999'499, "999 k/s"},
                          {999'500, "1.00 M/s"},
                          {51'023'456, "51.0 M/s"},
                          {1.23e9, "1.23 G/s"}});
}

TEST(Units, BandwidthsHaveTheUnitThatFits) {
  expect_rows(bandwidth_text, {{0, "0"},
                               {8, "8.00 B/s"},
                               {45'000, "45.0 kB/s"},
                               {45.04e6, "45.0 MB/s"},
                               {10'240e6, "10.2 GB/s"},
                               {1.381e12, "1.38 TB/s"}});
}

}  // namespace
}  // namespace pinwire::flood

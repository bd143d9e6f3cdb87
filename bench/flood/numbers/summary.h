// Several repetitions of one measurement in two numbers: the median, and how far the repetitions
// lie apart (PA-015, PA-017).
#pragma once

#include <cstddef>
#include <vector>

namespace pinwire::flood {

struct Summary {
  double median = 0;
  /// Half the distance from the smallest to the largest, as a fraction of the median.
  double spread = 0;
  /// Which of the given values is the median (the lower of the two middle ones of an even count).
  size_t median_at = 0;
};

/// Zeroes for no values.
Summary summarize(const std::vector<double>& values);

}  // namespace pinwire::flood

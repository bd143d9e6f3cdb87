#include "bench/flood/numbers/summary.h"

#include <algorithm>
#include <numeric>

namespace pinwire::flood {

Summary summarize(const std::vector<double>& values) {
  if (values.empty()) return {};
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  Summary summary;
  summary.median_at = order[(order.size() - 1) / 2];
  summary.median = (values[summary.median_at] + values[order[order.size() / 2]]) / 2;
  const double reach = values[order.back()] - values[order.front()];
  if (summary.median > 0) summary.spread = reach / 2 / summary.median;
  return summary;
}

}  // namespace pinwire::flood

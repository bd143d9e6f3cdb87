#include "bench/flood/numbers/figures.h"

#include <algorithm>

namespace pinwire::flood {

void add_pair(Figures& all, const Figures& pair) {
  all.p50_us = std::max(all.p50_us, pair.p50_us);
  all.p99_us = std::max(all.p99_us, pair.p99_us);
  all.p999_us = std::max(all.p999_us, pair.p999_us);
  all.us_per_message = std::max(all.us_per_message, pair.us_per_message);
  all.spread = std::max(all.spread, pair.spread);
  all.messages_per_s += pair.messages_per_s;
  all.bytes_per_s += pair.bytes_per_s;
  all.packets_per_s += pair.packets_per_s;
  all.cpu_s += pair.cpu_s;
}

}  // namespace pinwire::flood

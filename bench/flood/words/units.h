// Measured values for human eyes: three significant digits, and the largest unit that leaves at
// least one digit before the point.
#pragma once

#include <string>

namespace pinwire::flood {

/// Takes microseconds: 0.983 ns, 163 ns, 12.3 us, 1.20 ms, 4.00 s.
std::string time_text(double us);

/// Takes operations per second: 820 /s, 12.0 k/s, 51.0 M/s.
std::string rate_text(double per_s);

/// Takes bytes per second. The prefixes are decimal: 10.2 GB/s are 10.2 * 10^9 bytes per second.
std::string bandwidth_text(double bytes_per_s);

}  // namespace pinwire::flood

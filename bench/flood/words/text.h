// printf into a string, and numbers for human eyes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pinwire::flood {

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

/// Three significant digits without an exponent: 0.00163, 12.3, 123400; "-" if it is no number.
std::string significant(double value);

/// 1 B, 512 B, 4 KiB, 4 MiB; exact: 5000 stays 5000 B.
std::string bytes_text(uint64_t bytes);

/// "8", "64K", "4M", "1G" (powers of 1024); false if it is anything else or does not fit.
bool parse_bytes(std::string_view words, uint64_t& bytes);

/// A decimal number without sign; false if it is anything else or does not fit.
bool parse_count(std::string_view words, uint64_t& count);

}  // namespace pinwire::flood

// The texts that users write as values of environment variables, in the grammar that GASNet users
// know: "16K", "128.0MB/P", "0.5/H", "yes". Total functions: every text is a value or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pinwire {

/// A limit on memory, of one process or of all processes of a host together: bytes, or a part of
/// the host's physical memory.
struct MemoryBound {
  bool per_host = false;
  double fraction = 0;  ///< of physical memory; 0: `bytes` counts
  uint64_t bytes = 0;
  friend bool operator==(const MemoryBound&, const MemoryBound&) = default;
};

/// Whether the two are the same but for capitals.
bool same_word(std::string_view text, const char* word);

/// y, yes, true, on, 1 and their opposites, in any case.
std::optional<bool> parse_yes_no(std::string_view text);

/// A whole number in decimal or 0x hexadecimal; nothing else around it but blanks.
std::optional<int64_t> parse_whole(std::string_view text);

/// A finite decimal number, or a fraction of two: 1.5, 1e-4, 3/8.
std::optional<double> parse_real(std::string_view text);

/// Bytes: a number, perhaps with a fraction, and K, M, G or T (powers of 1024), perhaps with a B;
/// without a suffix a number counts `unit` bytes. Whole numbers are exact, fractions up to 2^53
/// bytes.
std::optional<uint64_t> parse_bytes(std::string_view text, uint64_t unit = 1);

/// Bytes or a fraction below 1 of the host's memory, then perhaps /P (for each process, as without)
/// or /H (for all of a host together).
std::optional<MemoryBound> parse_memory_bound(std::string_view text);

}  // namespace pinwire

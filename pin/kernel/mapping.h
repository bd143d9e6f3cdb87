// The mappings around an address: the kernel's list of this process's mappings (proc(5)).
#pragma once

#include <cstdint>

namespace pinwire {

struct Mapping {
  uint64_t from = 0;
  uint64_t to = 0;  ///< 0: none
};

/// The mappings that hold [from, to), whole, if all of them are private, anonymous and writable,
/// without a gap. Allocates nothing.
Mapping anonymous_mapping(uint64_t from, uint64_t to) noexcept;
/// The same of a kernel that answers no questions (before Linux 6.11): the list is read as text, up
/// to there, which takes 0.1 us a mapping.
Mapping anonymous_mapping_in_text(uint64_t from, uint64_t to) noexcept;

}  // namespace pinwire

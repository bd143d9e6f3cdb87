// vhost maps all memory of its peer's EAL when the peer connects. Where the process may not map so
// much, the library drops the connection and writes a line to its log; both ends would wait for a
// link that never comes.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace pinwire {

inline constexpr char kRaiseAddressSpace[] = "raise the limit of address space (ulimit -v)";

/// EAL without huge pages reserves address space, which then ends before the machine's memory does.
bool address_space_is_limited() noexcept;

/// Whether vhost has found none left for its peer, by eal_log_tail(). Others map memory, too.
bool lacked_address_space(const std::string& log);

/// Whether the process may map so much of its peer's memory. EAL runs, and no peer has connected.
Status leave_address_space_for(uint64_t peer_bytes);

}  // namespace pinwire

// The secret of a job: random bits that a stranger cannot guess.
#pragma once

#include <cstdint>

namespace pinwire {

/// Never 0.
uint64_t make_job_key() noexcept;

}  // namespace pinwire

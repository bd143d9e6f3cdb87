// Exchanges of data among all ranks through the launcher, when and while the job runs.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/bootstrap/bootstrap.h"

namespace pinwire {

using Gathered = Result<std::vector<std::vector<std::byte>>>;
using Gather = std::function<Gathered(std::span<const std::byte> mine)>;

/// bootstrap.all_gather() in a thread of its own, while this one serves messages: a late rank may
/// wait for an answer of this rank first. Client context.
Gathered gather_serving(Bootstrap& bootstrap, std::span<const std::byte> mine);

}  // namespace pinwire

// The facts that every rank sends to every other through the launcher before there are drivers: its
// host, its limits, and the configuration that it was compiled for.
#pragma once

#include "core/base/result.h"
#include "extended/state/job.h"

namespace pinwire {

/// Fills in the ranks, their places and the limits of segments. `config`: the client's
/// GASNET_CONFIG_STRING; ranks that were compiled for different ones are refused. Collective.
Status exchange_facts(Job& job, const char* config);

}  // namespace pinwire

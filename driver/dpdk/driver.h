// The dpdk driver: nicfw over a DPDK port.
#pragma once

#include <memory>

#include "driver/dpdk/bring_up.h"
#include "driver/driver.h"
#include "nicfw/nic.h"

namespace pinwire {

/// Starts EAL, opens the port of the chosen fabric and waits for its link. `lanes` of the options
/// must be what open() will be asked for. `nic` passes through to nicfw, but for what the
/// options say: UDP port, address and gateway.
Result<std::unique_ptr<Driver>> make_dpdk_driver(const DpdkOptions& options,
                                                 const NicConfig& nic = {});

}  // namespace pinwire

// nicfw: a NIC in software. RDMA semantics and a reliable transport over a port's frames
// (docs/internals-nicfw.md).
//
// It is a Driver. It takes everything it depends on: a port, a clock, a seed. It knows no job, no
// environment, no thread, no global: the simulator runs thousands of them in one process.
#pragma once

#include <memory>

#include "driver/driver.h"
#include "nicfw/port/clock.h"
#include "nicfw/port/config.h"
#include "nicfw/port/port.h"

namespace pinwire {

/// The port and the clock must outlive the driver.
std::unique_ptr<Driver> make_nic(Port& port, Clock& clock, const NicConfig& config);

}  // namespace pinwire

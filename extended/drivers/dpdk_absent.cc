// Linked instead of driver_dpdk.cc into a build without DPDK.
#include "extended/drivers/table.h"

namespace pinwire {

Result<Rails> make_dpdk_for(const Job&) {
  return error("this build has no DPDK; install libdpdk-dev and configure again");
}

}  // namespace pinwire

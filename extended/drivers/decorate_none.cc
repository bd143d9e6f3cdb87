// Production builds: nothing stands between the engine and the driver.
#include "extended/drivers/table.h"

namespace pinwire {

Result<std::unique_ptr<Driver>> decorate(std::unique_ptr<Driver> driver, const Settings& settings) {
  if (!settings.faults.empty()) {
    return error(
        "GASNET_FAULTS is set, but this build injects none; configure it with -Dchecks=true");
  }
  return driver;
}

}  // namespace pinwire

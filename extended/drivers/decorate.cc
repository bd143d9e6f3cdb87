// Builds with checks, and tests, which link this in place of decorate_none.cc.
#include <cstdlib>

#include "driver/checked.h"
#include "driver/faulty.h"
#include "driver/shown_order.h"
#include "extended/drivers/table.h"

namespace pinwire {

Result<std::unique_ptr<Driver>> decorate(std::unique_ptr<Driver> driver, const Settings& settings) {
  if (!settings.faults.empty()) {
    auto plan = read_fault_plan(settings.faults);
    if (!plan) return error("GASNET_FAULTS: %s", plan.sentence().c_str());
    driver = make_faulty(make_checked(std::move(driver)), *plan);
  }
  if (std::getenv("PINWIRE_SHOW_ORDER") != nullptr) driver = make_shown_order(std::move(driver));
  return make_checked(std::move(driver));
}

}  // namespace pinwire

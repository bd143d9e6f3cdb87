// A decorator that enforces the contract of driver.h and work.h, on both sides: what the caller may
// ask, and what the driver may answer. A violation ends the process with a sentence. It allocates
// nothing after open().
#pragma once

#include <memory>

#include "driver/driver.h"

namespace pinwire {

std::unique_ptr<Driver> make_checked(std::unique_ptr<Driver> inner);

}  // namespace pinwire

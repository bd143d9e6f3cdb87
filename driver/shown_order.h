// A decorator for race checkers, which look into one process alone: what a thread does before it
// sends comes before what any thread does that receives later, as it does where a peer answers what
// it was told. It says so of every message, so it also hides races between threads that happen to
// send and to receive; programs whose order needs no peer run without it.
#pragma once

#include <memory>

#include "driver/driver.h"

namespace pinwire {

std::unique_ptr<Driver> make_shown_order(std::unique_ptr<Driver> inner);

}  // namespace pinwire

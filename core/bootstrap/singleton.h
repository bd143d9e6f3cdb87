// A job of one rank, started by nobody.
#pragma once

#include <memory>

#include "core/bootstrap/bootstrap.h"

namespace pinwire {

std::unique_ptr<Bootstrap> make_singleton_bootstrap();

}  // namespace pinwire

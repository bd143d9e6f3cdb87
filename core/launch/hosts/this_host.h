// The name of the host that this process runs on.
#pragma once

#include <string>

namespace pinwire::launch {

std::string this_host();

}  // namespace pinwire::launch

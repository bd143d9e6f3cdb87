#include "core/launch/hosts/this_host.h"

#include <unistd.h>

namespace pinwire::launch {

std::string this_host() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace pinwire::launch

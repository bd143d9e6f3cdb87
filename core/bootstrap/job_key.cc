#include "core/bootstrap/job_key.h"

#include <sys/random.h>

#include "core/base/check.h"

namespace pinwire {

uint64_t make_job_key() noexcept {
  uint64_t key = 0;
  while (key == 0) {
    const auto bytes = ::getrandom(&key, sizeof key, 0);
    check(bytes == sizeof key, "getrandom gave no job key", bytes);
  }
  return key;
}

}  // namespace pinwire

#include "core/engine/engine.h"

#include "core/base/log.h"

namespace pinwire {

void driver_failed(const Driver& driver, WorkStatus status) noexcept {
  static constexpr const char* kWords[] = {"succeeded", "was refused by the target",
                                           "got no answer", "named memory that is not pinned",
                                           "was flushed"};
  if (const Failure* failure = driver.failure()) {
    fatal("driver %s: %s", driver.name(), failure->sentence);
  }
  fatal("driver %s: an operation %s", driver.name(), kWords[static_cast<int>(status)]);
}

}  // namespace pinwire

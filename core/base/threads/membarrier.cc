#include "core/base/threads/membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pinwire {
namespace {

bool membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

bool register_thread_barriers() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}
bool pass_thread_barriers() noexcept { return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

bool register_process_barriers() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}
bool pass_process_barriers() noexcept { return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

}  // namespace pinwire

// State D without a broken file server: the parent of a vfork(2) waits in the kernel until its
// child executes a program.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

namespace pinwire::launch {

/// Only a signal that kills ends the wait. The child ends with it, even one that is
/// killed before the child asks for the signal: a child that stays would hold the test's output
/// open.
inline void wait_in_kernel() {
  const pid_t parent = ::getpid();
  const pid_t child = ::vfork();
  if (child < 0) ::abort();
  // Somebody killed the child: this process shall not go on as if nothing had held it.
  if (child > 0) ::_exit(EXIT_FAILURE);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr timespec kBetween{0, 50'000'000};
  while (::getppid() == parent) ::nanosleep(&kBetween, nullptr);
  ::_exit(0);
}

}  // namespace pinwire::launch

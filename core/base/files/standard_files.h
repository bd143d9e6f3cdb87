// Standard input, output and error of a program that may have been started without some of them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace pinwire {

/// Opens /dev/null in the place of each of the descriptors 0 to 2 that is closed. Without it the
/// next file, pipe or socket takes that number, and what the program prints goes there. A program
/// calls this first in main().
inline void open_standard_files() noexcept {
  constexpr int kLastStandardFd = STDERR_FILENO;
  int fd;
  do {
    fd = ::open("/dev/null", O_RDWR);  // takes the lowest number that is free
  } while (fd >= 0 && fd <= kLastStandardFd);
  if (fd >= 0) ::close(fd);
}

}  // namespace pinwire

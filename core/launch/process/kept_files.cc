#include "core/launch/process/kept_files.h"

#include <unistd.h>

#include <algorithm>

namespace pinwire::launch {
namespace {

/// Closes the descriptors from `first` up to the one before `end`. A seccomp profile may refuse
/// close_range(2).
void close_between(int first, int end) {
  if (first == end || ::close_range(first, end - 1, 0) == 0) return;
  for (int fd = first; fd < end; ++fd) ::close(fd);
}

}  // namespace

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  int first = 0;
  for (const int fd : kept) {
    close_between(first, fd);
    first = fd + 1;
  }
  ::closefrom(first);
}

}  // namespace pinwire::launch

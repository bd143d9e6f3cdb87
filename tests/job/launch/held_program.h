// A program that nobody can execute for a while, as on a file system whose server does not answer.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/job/launch/run.h"

namespace pinwire_test {

/// One at a time.
class HeldProgram {
 public:
  static constexpr double kHeldS = 30;  ///< the kernel takes a lease away after 45 s
  HeldProgram() {
    std::filesystem::copy_file("/bin/true", path_);
    fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    is_asked_for_ = 0;
    ::signal(SIGIO, [](int) { is_asked_for_ = 1; });
    is_held_ = ::fcntl(fd_, F_SETLEASE, F_WRLCK) == 0;
  }
  ~HeldProgram() {
    ::close(fd_);
    ::signal(SIGIO, SIG_DFL);
  }
  HeldProgram(const HeldProgram&) = delete;
  HeldProgram& operator=(const HeldProgram&) = delete;
  const std::string& path() const { return path_; }
  bool is_held() const { return is_held_; }
  /// Waits until somebody executes it.
  bool is_asked_for(double limit_s = 60) const {
    for (const double until = now_s() + limit_s; !is_asked_for_ && now_s() < until;) ::usleep(1000);
    return is_asked_for_;
  }

 private:
  static inline volatile sig_atomic_t is_asked_for_ = 0;
  Folder folder_;
  const std::string path_ = folder_.path() + "/held";
  int fd_ = -1;
  bool is_held_ = false;
};

}  // namespace pinwire_test

// A named pipe whose reader is there, and takes nothing unless its test does.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/job/launch/run.h"

namespace pinwire_test {

class UnreadPipe {
 public:
  UnreadPipe() {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    reader_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(reader_, 0);
  }
  ~UnreadPipe() { ::close(reader_); }
  UnreadPipe(const UnreadPipe&) = delete;
  UnreadPipe& operator=(const UnreadPipe&) = delete;
  const std::string& path() const { return path_; }
  int reader() const { return reader_; }
  /// From now on a write to it waits.
  void fill() const {
    const int writer = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    const std::string page(4096, '.');
    while (::write(writer, page.data(), page.size()) > 0) {
    }
    ::close(writer);
  }
  /// Hands all that comes, until its writers have ended, to `take`.
  template <typename Take>
  void read_rest(Take take) const {
    ::fcntl(reader_, F_SETFL, 0);
    std::vector<char> part(1 << 20);
    for (ssize_t got; (got = ::read(reader_, part.data(), part.size())) > 0;)
      take(std::string_view(part.data(), static_cast<size_t>(got)));
  }

 private:
  const Folder folder_;
  const std::string path_ = folder_.path() + "/pipe";
  int reader_ = -1;
};

}  // namespace pinwire_test

// A driver whose pins hold real pages, as an RDMA device's do: they lie in a pipe, where they stay
// the same whatever the process does with the addresses. Data that is written to memory can be read
// from a pin of it, unless the pin is stale.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "tests/support/idle_driver.h"

namespace pinwire::test {

class HeldPages : public IdleDriver {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr uint32_t kPagesMax = 16;  // as many as a pipe has room for

  ~HeldPages() override {
    for (const auto& [key, pipe] : pipes_) pipe.close();
  }

  /// Takes whole pages; memory that cannot be written to is refused, as by a device.
  Result<Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    const auto at = reinterpret_cast<uint64_t>(base);
    const uint64_t first = at / kPageBytes, last = (at + bytes - 1) / kPageBytes;
    void* start = reinterpret_cast<void*>(first * kPageBytes);
    if (refusals != 0) return --refusals, error("there is no more");
    if (madvise(start, (last - first + 1) * kPageBytes, MADV_POPULATE_WRITE) != 0) {
      return error("no such memory: %s", std::strerror(errno));
    }
    std::vector<iovec> words;
    for (uint64_t page = first; page <= last; ++page) {
      words.push_back({reinterpret_cast<void*>(page * kPageBytes), sizeof(uint64_t)});
    }
    Pipe pipe = Pipe::make();
    const auto spliced = vmsplice(pipe.in, words.data(), words.size(), 0);
    if (spliced != static_cast<ssize_t>(words.size() * sizeof(uint64_t))) {
      pipe.close();
      return error("vmsplice: %s", std::strerror(errno));
    }
    const std::lock_guard guard(mutex_);
    const uint32_t key = ++last_key_;
    pipes_[key] = pipe;
    return Region{at, bytes, key, key};
  }
  Status unpin(const Region& region) override {
    const std::lock_guard guard(mutex_);
    const auto at = pipes_.find(region.local_key);
    if (at == pipes_.end()) return error("no such pin");
    at->second.close();
    pipes_.erase(at);
    return success();
  }

  /// The data that a device would read: the first word of each page of the pin.
  std::vector<uint64_t> read(const Region& region) {
    const std::lock_guard guard(mutex_);
    const auto at = pipes_.find(region.local_key);
    if (at == pipes_.end()) return {};
    const Pipe copy = Pipe::make();
    std::vector<uint64_t> words(kPagesMax);
    const ssize_t teed = tee(at->second.out, copy.in, kPagesMax * sizeof(uint64_t), 0);
    const ssize_t got = teed <= 0 ? 0 : ::read(copy.out, words.data(), static_cast<size_t>(teed));
    copy.close();
    words.resize(static_cast<size_t>(got < 0 ? 0 : got) / sizeof(uint64_t));
    return words;
  }
  size_t pins() {
    const std::lock_guard guard(mutex_);
    return pipes_.size();
  }

  uint32_t refusals = 0;

 private:
  struct Pipe {
    int out = -1, in = -1;
    static Pipe make() {
      int ends[2] = {-1, -1};
      check(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, "no pipe", errno);
      return {ends[0], ends[1]};
    }
    void close() const {
      ::close(out);
      ::close(in);
    }
  };

  std::mutex mutex_;
  std::map<uint32_t, Pipe> pipes_;
  uint32_t last_key_ = 0;
};

}  // namespace pinwire::test

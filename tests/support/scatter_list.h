// A list of pieces for one kScatter, and the work that posts it.
#pragma once

#include <memory>

#include "driver/scatter.h"
#include "driver/work.h"

namespace pinwire {

class ScatterList {
 public:
  explicit ScatterList(uint32_t bytes_max)
      : memory_(std::make_unique<uint64_t[]>(bytes_max / 8)),
        writer_(reinterpret_cast<std::byte*>(memory_.get()), bytes_max) {}

  bool add(const void* remote, const void* data, uint32_t bytes) {
    return writer_.add(reinterpret_cast<uint64_t>(remote), static_cast<const std::byte*>(data),
                       bytes);
  }
  Work work(Rank peer, uint32_t key) const {
    Work work{};
    work.op = Op::kScatter;
    work.flags = kWorkCopied;
    work.peer = peer;
    work.local = memory_.get();
    work.bytes = writer_.bytes();
    work.remote = writer_.base();
    work.remote_key = key;
    return work;
  }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(memory_.get()); }
  const ScatterWriter& writer() const { return writer_; }

 private:
  std::unique_ptr<uint64_t[]> memory_;
  ScatterWriter writer_;
};

}  // namespace pinwire

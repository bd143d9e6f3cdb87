// Frames on their way to one rank, whose socket may be full for a while.
#pragma once

#include <deque>

#include "core/launch/hosts/host.h"

namespace pinwire::launch {

class Outbox {
 public:
  explicit Outbox(int fd) : fd_(fd) {}
  void put(FrameHeader header, SharedBytes message);
  /// Sends what the socket takes. True if all is sent (or the reader is gone).
  bool flush();

 private:
  struct Item {
    FrameHeader header;
    SharedBytes message;
    uint64_t offset;
  };
  int fd_;
  std::deque<Item> items_;
};

}  // namespace pinwire::launch

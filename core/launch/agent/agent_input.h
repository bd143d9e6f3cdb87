// Standard input of rank 0 on another host: from the launcher's frames into the rank's pipe. The
// launcher sends no more than the rank has room for, so that neither side keeps it in memory.
#pragma once

#include <functional>
#include <vector>

#include "core/launch/hosts/host.h"
#include "core/launch/loop/fd.h"
#include "core/launch/loop/loop.h"

namespace pinwire::launch {

class AgentInput {
 public:
  /// `took`: is told how many bytes the rank took, or -1, once, when it reads no more.
  AgentInput(Loop& loop, Fd fd, std::function<void(int bytes)> took);
  AgentInput(const AgentInput&) = delete;
  AgentInput& operator=(const AgentInput&) = delete;
  /// Empty: the end. False if it is more than the window has room for.
  bool feed(Bytes bytes);

 private:
  void write_some();
  void close();

  Fd fd_;
  Loop::Watch watch_;
  std::function<void(int bytes)> took_;
  std::vector<std::byte> pending_;
  bool last_ = false;
};

}  // namespace pinwire::launch

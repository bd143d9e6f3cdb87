// Signals to the launcher, as events of its loop.
#pragma once

#include <functional>

#include "core/launch/loop.h"
#include "core/launch/process.h"

namespace pinwire::launch {

class Signals {
 public:
  struct Events {
    std::function<void()> child_changed;
    /// `from_kernel`: the terminal sent it, to every process of the foreground group.
    std::function<void(int signal_number, bool from_kernel)> user_signal;
  };
  Signals(Loop& loop, Events events);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void read();
  Loop& loop_;
  Events events_;
  Fd fd_;
};

/// Blocks them, so that none is lost before a Signals exists. Before the first thread or child.
void block_signals();
/// As they were for whoever started this process; for a program about to be executed.
void restore_signals();

}  // namespace pinwire::launch
